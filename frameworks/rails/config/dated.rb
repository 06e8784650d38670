# Puma writes no Date of its own; Apache does, in place of this one. It is written anew once a second.
class Dated
  def initialize(app)
    @app = app
    @written = [0, ""]
  end

  def call(env)
    status, headers, body = @app.call(env)
    headers["Date"] = date
    [status, headers, body]
  end

  private

  # Threads see one pair or the other, never half of one.
  def date
    now = Time.now.to_i
    second, date = @written
    return date if second == now

    Time.at(now).httpdate.tap { |written| @written = [now, written] }
  end
end
