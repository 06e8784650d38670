Rails.application.routes.draw do
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
end
