# Events that are sent while the request lasts.
class StreamsController < ActionController::API
  include ActionController::Live

  EVENT_INTERVAL_S = 0.01
  MOST_EVENTS = 100

  def show
    count = params[:n].to_i
    return head(:not_found) unless count.between?(1, MOST_EVENTS)

    response.headers["Content-Type"] = "text/event-stream"
    response.headers["Cache-Control"] = "no-cache"
    send_events(count)
  ensure
    response.stream.close
  end

  private

  # Each when it is due.
  def send_events(count)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    count.times do |i|
      sleep([0, start + i * EVENT_INTERVAL_S - Process.clock_gettime(Process::CLOCK_MONOTONIC)].max)
      response.stream.write("data: #{i}\n\n")
    end
  end
end
