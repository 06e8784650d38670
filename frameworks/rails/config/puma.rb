bind "tcp://#{ENV.fetch("HOST")}:#{ENV.fetch("PORT")}?backlog=4096"
environment "production"
quiet

# One process for each core, because threads of one process share one interpreter lock.
workers Integer(ENV.fetch("WORKERS"))
silence_single_worker_warning
threads 5, 5
preload_app!

# Puma would close what is silent for 30 or 20 s.
first_data_timeout 3600
persistent_timeout 3600

# A stop by SIGTERM that went well is exit code 0.
raise_exception_on_sigterm false
