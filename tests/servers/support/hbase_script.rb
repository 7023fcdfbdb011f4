# Reads a script of the HBase shell, which is Ruby, and prints the commands it gives, one a line as JSON: the name and
# the arguments. Strings are bytes, printed as Latin-1. hbase.py carries them out.
#   ruby hbase_script.rb SCRIPT
require 'json'

# The shell's constants are their own names. One that the shell does not have is an error here too.
%w[
  NAME METHOD SPLITS CONFIGURATION METADATA TIMESTAMP COLUMN FILTER
  BLOCKCACHE BLOCKSIZE BLOOMFILTER CACHE_BLOOMS_ON_WRITE CACHE_DATA_ON_WRITE CACHE_INDEX_ON_WRITE COMPRESSION
  DATA_BLOCK_ENCODING EVICT_BLOCKS_ON_CLOSE IN_MEMORY KEEP_DELETED_CELLS MIN_VERSIONS NEW_VERSION_BEHAVIOR
  PREFETCH_BLOCKS_ON_OPEN REPLICATION_SCOPE TTL VERSIONS
  COMPACTION_ENABLED DURABILITY MAX_FILESIZE MEMSTORE_FLUSHSIZE READONLY REGION_REPLICATION SPLIT_ENABLED
].each { |name| Object.const_set(name, name) }

def as_json(value)
  case value
  when String then value.b.force_encoding('ISO-8859-1').encode('UTF-8')
  when Array then value.map { |member| as_json(member) }
  when Hash then value.to_h { |key, member| [as_json(key), as_json(member)] }
  when Integer, true, false, nil then value
  else raise ArgumentError, "#{value.inspect} is no argument of a command"
  end
end

COMMANDS = %w[
  create_namespace drop_namespace create alter put disable enable drop truncate get scan incr delete
].freeze
# Methods of the script's own noam.rb, which call HBase's Java client: here they are commands too, whatever it defines.
METHODS = %w[mutate_row check_and_mutate].freeze

(COMMANDS + METHODS).each do |command|
  define_singleton_method(command) { |*arguments| puts JSON.generate([command, *as_json(arguments)]) }
end

load File.expand_path(ARGV.fetch(0))
