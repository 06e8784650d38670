# A page of rows: an API has no views, so this one is no API.
class FortunesController < ActionController::Base
  ADDED = "This sentence was added when the request came.".freeze

  def index
    @fortunes = [*Fortune.all, Fortune.new(id: 0, message: ADDED)].sort_by(&:message)
  end
end
