require_relative "config/environment"

# Without it, the servers would answer with chunked coding.
use Rack::ContentLength
run Rails.application
