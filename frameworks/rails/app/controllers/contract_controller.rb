# What each path of the contract answers.
class ContractController < ActionController::API
  LETTERS = [2048, 8192, 32_768].to_h { |count| [count, ("A" * count).freeze] }.freeze

  def empty
    head :ok
  end

  def plaintext
    render plain: "Hello, World!"
  end

  def letters
    render plain: LETTERS.fetch(params[:count])
  end

  def query_args
    render_args request.query_parameters
  end

  # Rails decodes both kinds of form.
  def form_args
    render_args request.request_parameters
  end

  # The CRC-32 of the values by rising name, each followed by a line feed.
  def checksum
    lines = request.query_parameters.sort.map { |_, value| "#{value}\n" }
    render plain: Zlib.crc32(lines.join).to_s
  end

  # What is missing raises an error that Rails answers with 400, as it does broken JSON.
  def json
    render json: %w[id firstName lastName].to_h { |name| [name, params.fetch(name)] }
  end

  def fibonacci
    render plain: fibonacci_number(params[:n].to_i).to_s
  end

  private

  # The constant body, with the length of all values in UTF-8 as proof that they were decoded.
  def render_args(arguments)
    response.headers["decoded-bytes"] = arguments.values.sum(&:bytesize).to_s
    render plain: LETTERS.fetch(2048)
  end

  # F(n) by n - 1 additions; F(0) = 0, F(1) = 1.
  def fibonacci_number(n)
    previous, current = 0, [n, 1].min
    (n - 1).times { previous, current = current, previous + current }
    current
  end
end
