# Puma writes no Date of its own; Apache does, in place of this one.
class Dated
  def initialize(app)
    @app = app
  end

  def call(env)
    status, headers, body = @app.call(env)
    headers["Date"] = Time.now.httpdate
    [status, headers, body]
  end
end
