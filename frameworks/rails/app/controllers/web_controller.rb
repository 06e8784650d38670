# What needs many routes, files, tokens or another service.
class WebController < ActionController::API
  include ActionController::HttpAuthentication::Token::ControllerMethods

  AUTH_KEY = ENV.fetch("AUTH_KEY", "")
  UPSTREAM_URL = ENV.fetch("UPSTREAM_URL", "")
  # Keeps a connection for each thread that asks.
  UPSTREAM = Net::HTTP::Persistent.new(name: "upstream")
  PIECE_BYTES = 65_536

  # All records, read when they are first asked for.
  RECORDS = Concurrent::Delay.new { JSON.parse(File.read(File.join(ENV.fetch("FILES"), "items.json"))) }

  # One of the many routes.
  def route
    render plain: "#{params[:k]}:#{params[:id]}"
  end

  # The first records, each with its total.
  def items
    count = params[:n].to_i
    return head(:not_found) unless count.between?(1, RECORDS.value!.size)

    factor = params.require(:m).to_i
    found = RECORDS.value!.first(count).map do |item|
      item.merge("total" => item["price"] * item["quantity"] * factor)
    end
    render json: { count: count, items: found }
  end

  # The CRC-32 of a body, which is never in memory as a whole.
  def upload
    sum = 0
    while (piece = request.body.read(PIECE_BYTES))
      sum = Zlib.crc32(piece, sum)
    end
    render plain: sum.to_s
  end

  # The sum of the values in a document, which Rails has decoded.
  def sum_of_document
    render plain: sum_of_values(request.request_parameters).to_s
  end

  # The subject of a valid token.
  def subject
    claims = authenticate_with_http_token { |token| verified(token) }
    return head(:unauthorized, "WWW-Authenticate" => "Bearer") if claims.nil?

    render plain: claims.fetch("sub")
  end

  # Twice what another service says.
  def doubled
    found = UPSTREAM.request(URI("#{UPSTREAM_URL}/value/#{params[:id]}"))
    return head(:bad_gateway) unless found.is_a?(Net::HTTPOK)

    render json: { id: params[:id].to_i, doubled: 2 * JSON.parse(found.body).fetch("value") }
  rescue SystemCallError, Net::HTTP::Persistent::Error
    head :bad_gateway
  end

  private

  # The claims of a token; nil if it is not valid.
  def verified(token)
    JWT.decode(token, AUTH_KEY, true, algorithm: "HS256", required_claims: %w[exp sub]).first
  rescue JWT::DecodeError
    nil
  end

  # The sum of all members named `value`.
  def sum_of_values(document)
    case document
    when Array then document.sum { |element| sum_of_values(element) }
    when Hash then document.sum { |name, member| sum_of_member(name, member) }
    else 0
    end
  end

  def sum_of_member(name, member)
    name == "value" && member.is_a?(Integer) ? member : sum_of_values(member)
  end
end
