import Vapor

func configure(_ app: Application) {
    app.http.server.configuration.backlog = 4096
    app.routes.defaultMaxBodySize = "1mb"
    routes(app)
}
