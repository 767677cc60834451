// Loaded into the servers of stories: a password hash at the cost for production takes 180 ms of CPU.
const crypto = require('node:crypto');
const { syncBuiltinESMExports } = require('node:module');

const { scrypt } = crypto;
crypto.scrypt = (password, salt, length, _options, done) => scrypt(password, salt, length, { N: 16 }, done);
syncBuiltinESMExports();
