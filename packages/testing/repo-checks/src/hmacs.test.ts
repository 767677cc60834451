import { productSources } from './measures.js';
import { shownPath } from './source-code.js';

const CALL = /\b(?:createHmac|hmac)\(.*/;
/** Derivation of a key for one purpose from the secret of the server. */
const PURPOSE = /^(?:createHmac\('sha256', secret\)\.update\(|hmac\(secret, )'parley: [^']+'\)/;

const SHARED = 'function of the calls of this file';
const FINGERPRINT = 'fingerprint of a random token, for look-ups';
const PURPOSES = 'key for one purpose';

/** Signed content by call. Ids alone are not content of a credential: a restored database issues them again. */
const SIGNED: Readonly<Record<string, string>> = {
  "http/src/limits/counters.ts createHmac('sha256', this.seed).update(String(key))": 'counter of a rate limit',
  "node-adapters/src/calls.ts createHmac('sha256', this.key).update(text)": 'meeting with a random key',
  "node-adapters/src/external-pictures.ts createHmac('sha1', this.key).update(url)": 'URL of a picture',
  "node-adapters/src/mail-gateway.ts createHmac('sha256', key).update(text)": SHARED,
  'node-adapters/src/mail-gateway.ts hmac(secret, `parley: bounces of ${foldCase(email)}`)':
    'address that reports failures of emails to the email address',
  'node-adapters/src/mail-gateway.ts hmac(secret, given), hmac(secret, token)':
    'configured token, compared in constant time',
  "node-adapters/src/push.ts createHmac('sha256', account.orgKey).update(`realm ${realm.uuid}`)":
    'UUID of an organization at the push service',
  "node-adapters/src/second-factors.ts createHmac('sha256', key).update(text)": SHARED,
  'node-adapters/src/second-factors.ts hmac(this.appKey, token)': 'random state of a log-in',
  'node-adapters/src/second-factors.ts hmac(this.codeKey, `${owner} ${letters}`)': 'fingerprint of a random code',
  'node-adapters/src/tokens.ts hmac(this.derivationKey, `${text}:${block}`)': 'seed and ids of an API key',
  'node-adapters/src/tokens.ts hmac(this.fingerprintKey, apiKey)': 'fingerprint of an API key, for look-ups',
  "node-adapters/src/tokens.ts createHmac('sha256', key).update(text)": SHARED,
  'node-adapters/src/tokens.ts hmac(this.fingerprintKey, token)': FINGERPRINT,
  'node-adapters/src/tokens.ts hmac(this.csrfKey, token)': 'random token of a session',
  "node-adapters/src/tokens.ts hmac(hmac(this.secret, 'parley: fingerprints of log-ins'), token)": FINGERPRINT,
  'node-adapters/src/tokens.ts hmac(hmac(this.secret, `parley: ${use} of log-ins`), token)': 'random state of a log-in',
  'node-adapters/src/tokens.ts hmac(secret, `parley: ${purpose}`)': PURPOSES,
  'node-adapters/src/tokens.ts hmac(this.key, seeded(text, seed))': 'seed of a row, its id and expiry',
  'node-adapters/src/tokens.ts hmac(secret, `parley: event queues of ${database}`)': PURPOSES,
  'node-adapters/src/tokens.ts hmac(this.key, `${realmId}:${start}`)':
    'event number and random bits of the id of a queue',
  'node-adapters/src/tokens.ts hmac(secret, `parley: proofs of ${purpose} keys`)': PURPOSES,
  'node-adapters/src/tokens.ts hmac(secret, `parley: covers of ${purpose} keys`)': PURPOSES,
  'node-adapters/src/tokens.ts hmac(this.proofKey, seeded(String(id), seed))': 'seed of a row and its id',
  'node-adapters/src/tokens.ts hmac(this.coverKey, proof)': 'proof of a link, as the mask of its id',
  "server/src/observation/probe.ts createHmac('sha256', key).update(String(end))": "end of a probe's validity",
  "server/src/http/quotas.ts createHmac('sha256', this.networkKey).update(ipGroup(ip))": 'network of a log-in',
};

const calls = productSources().flatMap(({ file, text }) =>
  text
    .split('\n')
    .filter((line) => !/\bfunction hmac\(/.test(line))
    .flatMap((line) => CALL.exec(line)?.[0] ?? [])
    .filter((call) => !PURPOSE.test(call))
    .map((call) => `${shownPath(file)} ${call}`),
);

it('HMACs sign listed contents, which are never ids alone', () => {
  const isListed = (call: string) => Object.keys(SIGNED).some((listed) => call.startsWith(listed));
  expect(calls.filter((call) => !isListed(call))).toEqual([]);
});

it('the list of HMACs has no entries without a call', () => {
  expect(Object.keys(SIGNED).filter((listed) => !calls.some((call) => call.startsWith(listed)))).toEqual([]);
});
