# SPDX-License-Identifier: Apache-2.0
# sidekiq_jobs.rb - Sidekiq: jobs, retries, schedules, dead jobs, a process that
# is killed. Usage: sidekiq_jobs.rb PORT. Prints counts and orders, a line for
# each step. Its own processes load it with WORKER=1.
PORT = ENV["TEST_PORT"] ||= ARGV[0]
require "sidekiq"
require "sidekiq/api"

Redis.sadd_returns_boolean = false # without a warning at each

Sidekiq.logger.level = Logger::FATAL
URL = { url: "redis://127.0.0.1:#{PORT}/2" }.freeze
Sidekiq.configure_client { |config| config.redis = URL }
Sidekiq.configure_server do |config|
  config.redis = URL
  config.options[:poll_interval_average] = 0.2
end

def note(list, value)
  Sidekiq.redis { |redis| redis.rpush(list, value) }
end

class Add
  include Sidekiq::Worker
  def perform(a, b)
    note("results", a + b)
  end
end

class FailUntil
  include Sidekiq::Worker
  sidekiq_options retry: 5
  def perform(tries)
    number = Sidekiq.redis { |redis| redis.incr("tries:#{tries}") }
    raise "try #{number}" if number < tries
    note("tries", number)
  end
end

class Dead
  include Sidekiq::Worker
  sidekiq_options retry: 0, queue: "low"
  def perform
    raise "always"
  end
end

class Slow
  include Sidekiq::Worker
  def perform
    note("slow", 1)
    sleep 600
  end
end

def say(step, *values)
  puts "#{step} #{values.map(&:inspect).join(" ")}"
  $stdout.flush
end

def wait
  3000.times do
    return true if yield
    sleep 0.01
  end
  false
end

def list(name)
  Sidekiq.redis { |redis| redis.lrange(name, 0, -1) }
end

def counts
  stats = Sidekiq::Stats.new
  { enqueued: stats.enqueued, scheduled: stats.scheduled_size,
    retries: stats.retry_size, dead: stats.dead_size,
    processed: stats.processed, failed: stats.failed,
    queues: stats.queues.sort }
end

def start
  pid = spawn({ "WORKER" => "1" }, "sidekiq", "-r", File.expand_path(__FILE__),
              "-c", "3", "-q", "default,2", "-q", "low", "-t", "1",
              out: "/dev/null", err: "/dev/null")
  at_exit { Process.kill(:KILL, pid) rescue nil }
  pid
end

def do_queue
  10.times { |i| Add.perform_async(i, i) }
  Sidekiq::Client.push_bulk("class" => Add, "args" => [[100, 1], [200, 1]])
  Add.perform_in(3600, 1, 2)
  Add.perform_in(1, 1000, 1)
  Dead.perform_async
  FailUntil.perform_async(3)
  gone = Add.perform_async(7, 7)
  say "queue", counts, Sidekiq::Queue.new.first.args
  say "queue", Sidekiq::Queue.new.find_job(gone).delete,
      Sidekiq::Queue.new.size
end

def do_work
  pid = start
  say "work", wait { list("results").size == 13 },
      list("results").map(&:to_i).sort
  2.times do # they would wait for 15 s and more
    say "retries", wait { Sidekiq::RetrySet.new.size == 1 },
        Sidekiq::RetrySet.new.map { |job| [job.klass, job["retry_count"]] }
    Sidekiq::RetrySet.new.first&.retry
  end
  say "retries", wait { list("tries") == ["3"] }
  say "dead", wait { Sidekiq::DeadSet.new.size == 1 },
      Sidekiq::DeadSet.new.map { |job| [job.klass, job["error_message"]] }
  wait { counts[:processed] >= 17 }
  say "work", counts
  say "scheduled", Sidekiq::ScheduledSet.new.map { |job| job.args }
  Sidekiq::ScheduledSet.new.each(&:add_to_queue)
  say "scheduled", wait { list("results").size == 14 }
  say "process", wait { Sidekiq::ProcessSet.new.size == 1 },
      Sidekiq::ProcessSet.new.map { |process| process["queues"].uniq.sort }
  Process.kill(:TERM, pid)
  say "process", Process.wait2(pid)[1].exitstatus, Sidekiq::ProcessSet.new.size
end

# The job of a killed process is lost, as Sidekiq's basic fetch has it.
def do_killed
  pid = start
  Slow.perform_async
  say "killed", wait { list("slow").size == 1 }, Sidekiq::Queue.new.size
  Process.kill(:KILL, pid)
  Process.wait(pid)
  Add.perform_async(5000, 5)
  pid = start
  say "killed", wait { list("results").size == 15 }, list("slow").size
  Process.kill(:TERM, pid)
  say "killed", Process.wait2(pid)[1].exitstatus
end

unless ENV["WORKER"]
  Sidekiq.redis(&:flushdb)
  do_queue
  do_work
  do_killed
  dead = Sidekiq::DeadSet.new
  dead.each(&:retry)
  say "dead", dead.size, Sidekiq::Queue.new("low").size
  Sidekiq::Queue.all.each(&:clear)
  say "end", Sidekiq::Queue.all.size, Sidekiq::RetrySet.new.size
end
