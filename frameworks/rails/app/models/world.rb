# A row with a number.
class World < ActiveRecord::Base
  self.table_name = "world"

  # What a response says of it.
  def as_json(*)
    { id: id, randomNumber: random_number }
  end
end
