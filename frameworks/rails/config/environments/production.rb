Rails.application.configure do
  config.cache_classes = true
  config.eager_load = true
  config.consider_all_requests_local = false
  config.public_file_server.enabled = false

  config.log_level = :fatal
  config.logger = ActiveSupport::Logger.new($stderr)
end
