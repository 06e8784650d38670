Rails.application.routes.draw do
  number = /\d{1,9}/

  controller :contract do
    get "empty", action: :empty
    get "plaintext", action: :plaintext
    get "2048", action: :letters, count: 2048
    get "8192", action: :letters, count: 8192
    get "32768", action: :letters, count: 32_768
    get "getArgs2048", action: :query_args
    post "postArgs2048", action: :form_args
    post "postArgsMulti2048", action: :form_args
    get "args", action: :checksum
    post "json", action: :json
    get "fibonacci/:n", action: :fibonacci, constraints: { n: /\d{1,5}/ }
  end

  controller :database do
    get "db/:id", action: :world, constraints: { id: number }
    post "updates/:n", action: :updates, constraints: { n: number }
  end
  get "fortunes", to: "fortunes#index"

  controller :web do
    get "items/:n", action: :items, constraints: { n: number }
    post "upload", action: :upload
    post "json-in", action: :sum_of_document
    get "auth", action: :subject
    get "up/:id", action: :doubled, constraints: { id: number }
    1000.times do |k|
      get "r/#{k}/x/:id", action: :route, k: k, constraints: { id: number }
    end
  end
  get "stream/:n", to: "streams#show", constraints: { n: number }

  # Rails' handler of files, which asks the application for what it has not.
  missing = ->(_) { [404, {}, []] }
  mount ActionDispatch::Static.new(missing, File.join(ENV.fetch("FILES", ""), "static")), at: "static"
end
