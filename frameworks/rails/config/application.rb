require "rails"
require "action_controller/railtie"
require "action_view/railtie"
require "active_record/railtie"
require "jwt"
require "net/http/persistent"
require "time"
require_relative "dated"

module Contract
  # An API without mail and jobs.
  class Application < Rails::Application
    config.load_defaults 6.1
    config.api_only = true

    config.middleware.insert 0, Dated

    # Nobody asks whether an answer has changed.
    config.middleware.delete Rack::ConditionalGet
    config.middleware.delete Rack::ETag

    # Compresses lists only, and at once.
    compressed = ->(env, *) { env["PATH_INFO"].start_with?("/items/") }
    config.middleware.use Rack::Deflater, if: compressed, sync: false

    # Rack knows this type by a name from before it was registered.
    Rack::Mime::MIME_TYPES[".woff2"] = "font/woff2"

    # Rails will not run in production without one. Nothing is signed here.
    config.secret_key_base = "nothing is signed"
  end
end
