require_relative "config/environment"

# Without a length, the servers would answer with chunked coding; to know it, Rack waits for the
# whole body, and a stream has no end to wait for.
sized = Rack::ContentLength.new(Rails.application)
run ->(env) { (env["PATH_INFO"].start_with?("/stream/") ? Rails.application : sized).call(env) }
