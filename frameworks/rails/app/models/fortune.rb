# A row with a sentence.
class Fortune < ActiveRecord::Base
  self.table_name = "fortune"
end
