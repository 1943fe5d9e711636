class Store:
    def put(self, rows):
        self.rows = rows  # at: put

    def total(self):
        total = self.rows.sum()
        return total  # at: total
