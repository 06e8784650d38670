require "rails"
require "action_controller/railtie"

module Contract
  # An API without a database, views, mail and jobs.
  class Application < Rails::Application
    config.load_defaults 6.1
    config.api_only = true

    # Nobody asks whether an answer has changed.
    config.middleware.delete Rack::ConditionalGet
    config.middleware.delete Rack::ETag

    # Rails will not run in production without one. Nothing is signed here.
    config.secret_key_base = "nothing is signed"
  end
end
