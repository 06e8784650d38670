# What needs PostgreSQL: rows by Active Record.
class DatabaseController < ActionController::API
  ROWS = 10_000
  MOST_UPDATES = 500

  # One row, by its id.
  def world
    render json: World.find(params[:id])
  end

  # Rows that are read, get new numbers, and are written by one statement.
  #
  # They are locked in the order of their ids, so that transactions wait for each other and never in
  # a circle.
  def updates
    count = params[:n].to_i
    return head(:bad_request) unless count.between?(1, MOST_UPDATES)

    render json: World.transaction { renumbered((1..ROWS).to_a.sample(count)) }
  end

  private

  def renumbered(ids)
    worlds = World.where(id: ids).order(:id).lock.to_a
    worlds.each { |world| world.random_number = rand(1..ROWS) }
    World.upsert_all(worlds.map(&:attributes), returning: false)
    worlds
  end
end
