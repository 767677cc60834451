import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Route } from '@parley/http';
import { PLACEHOLDERS } from '../conformance/placeholders.js';
import { send } from '../conformance/request.js';
import { type EncodedRequest, encodeRequest } from '../hostile/encode.js';
import { fuzzedRequests } from '../hostile/fuzzed-requests.js';
import { generatedInputs } from '../hostile/generated-inputs.js';
import { type Fields, nameOf, ROUTES, signsOut } from '../hostile/routes.js';
import { createLargeOrganization, type LargeOrganization, signIn } from '../testing/large-organization.js';
import { ParleyProcess } from '../testing/parley-process.js';
import { pause, within } from '../testing/pause.js';
import { validationInputs } from './validation-inputs.js';

const USAGE = `Usage: npm run record -- (--out FILE | --compare FILE)

--out records what a server answers to wrong, unusual and hostile requests to every operation, as lines of JSON. --compare sends
the requests of a recording again and prints the answers that differ. Exit code 1: some differ.`;

/** Timeout that suffices for every response except polls. */
const PATIENCE_MS = 3000;
const EXPORTS = '/api/v1/export/realm';
const EXPIRES_SOON = /invite_expires_in_minutes=(?:%2B|\+|%20)?\d{1,3}(?:&|$)/;
const FUZZ_SEED = 1;
const FUZZED = 1500;
/** UTF-16 code units for all parameters of one hostile request. */
const HOSTILE_ROOM = 8000;
/** Maximum length of a plain recording: longer bodies are compressed, and longer responses end with their hash. */
const MAX_PLAIN = 2000;
/** Number of requests between checks that the owner can still call the API. */
const CHECK_EVERY = 100;

type Caller = 'owner' | 'bot' | 'browser' | 'nobody';
type StoredBody = string | null | { readonly gzip: string; readonly isText: boolean };

interface StoredRequest {
  readonly as: Caller;
  readonly method: string;
  readonly target: string;
  readonly headers: EncodedRequest['headers'];
  readonly body: StoredBody;
}

interface Answered {
  /** 0 without a response in time, as for a poll. */
  readonly status: number;
  readonly answer: string;
}

/** Line of a recording. */
interface Line extends Answered {
  readonly name: string;
  readonly request: StoredRequest;
}

type NamedRequest = readonly [name: string, request: StoredRequest];

/** Parts of responses that differ between runs. */
const RANDOM_PARTS: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  ...PLACEHOLDERS,
  [/("csrf_token":)"[^"]+"/g, '$1"<token>"'],
  [/("expiry_date":)\d+/g, '$1<time>'],
  [/\b(\d+\/)[0-9a-f]{2}\/[\w-]{24}/g, '$1<random>'],
  [/("token":)"\w{32}"/g, '$1"<token>"'],
  [/\bbigbluebutton=[\w.-]+/g, 'bigbluebutton=<token>'],
  [/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{20,}/g, '<token>'],
  [/\/(join|reactivate|do_confirm)\/[a-z0-9]{20,}/g, '/$1/<token>'],
  [/(localhost|127\.0\.0\.1):\d+/g, '<host>'],
  [/\b1[6-9]\d{8}(\.\d+)?\b/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?)?/g, '<date>'],
];

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { out: { type: 'string' }, compare: { type: 'string' } } });
  if (values.out !== undefined && values.compare === undefined) return record(values.out);
  if (values.compare !== undefined && values.out === undefined) return compare(values.compare);
  console.error(USAGE);
  return 2;
}

async function record(path: string): Promise<number> {
  const file = createWriteStream(path);
  let count = 0;
  for await (const line of responsesTo(generatedRequests)) {
    file.write(`${JSON.stringify(line)}\n`);
    count++;
  }
  await new Promise<void>((resolve) => file.end(resolve));
  console.log(`${count} answers recorded`);
  return 0;
}

async function compare(path: string): Promise<number> {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const recorded = lines.map((line) => JSON.parse(line) as Line);
  const sameRequests = () => recorded.map(({ name, request }): NamedRequest => [name, request]);
  const expected = new Map(recorded.map((line) => [line.name, line]));
  let different = 0;
  for await (const { name, request, status, answer } of responsesTo(sameRequests)) {
    const before = expected.get(name);
    expected.delete(name);
    if (before?.status === status && before.answer === answer) continue;
    different++;
    console.log(`${request.method} ${request.target} ${JSON.stringify(request.body)?.slice(0, MAX_PLAIN)}`);
    console.log(`${name}\n- ${before?.status} ${before?.answer}\n+ ${status} ${answer}\n`);
  }
  for (const name of expected.keys()) console.log(`No answer: ${name}`);
  console.log(`${recorded.length} answers recorded, ${different} differ, ${expected.size} are missing`);
  return different + expected.size > 0 ? 1 : 0;
}

type Requests = (organization: LargeOrganization) => AsyncIterable<NamedRequest> | Iterable<NamedRequest>;

async function* responsesTo(requestsFor: Requests): AsyncGenerator<Line> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-recording-'));
  try {
    yield* answersToRequests(requestsFor, join(directory, 'requests.db'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function* answersToRequests(requestsFor: Requests, database: string): AsyncGenerator<Line> {
  const size = { owners: 3, members: 20, channels: 10, messages: 100, atATime: 1 };
  const organization = await createLargeOrganization(database, size);
  const options = ['--dev', '--rate-limits=off', '--shed-load=off'];
  const server = await ParleyProcess.start(['--port=0', `--database=sqlite:${database}`, ...options]);
  try {
    const [owner] = await signIn(server, organization.owners);
    const [bot] = await signIn(server, organization.bots);
    const credentials: Readonly<Record<Caller, EncodedRequest['headers']>> = {
      owner: { Authorization: owner!.authorization },
      bot: { Authorization: bot!.authorization },
      browser: { Cookie: 'csrftoken=of-a-recording', 'X-CSRFToken': 'of-a-recording' },
      nobody: {},
    };
    const responseTo = async (request: StoredRequest): Promise<Answered> => {
      const { as, method, target, headers, body } = request;
      const url = `http://127.0.0.1:${server.port}${target}`;
      const sent = send({ method, url, headers: { ...headers, ...credentials[as] }, body: restoredBody(body) });
      const answer = await within(PATIENCE_MS, sent);
      if (method === 'POST' && target === EXPORTS && answer?.status === 200) await exportsEnd(responseTo);
      return { status: answer?.status ?? 0, answer: comparable(answer?.text ?? '') };
    };
    let count = 0;
    for await (const [name, request] of requestsFor(organization)) {
      yield { name, request, ...(await responseTo(request)) };
      if (++count % CHECK_EVERY > 0 || (await responseTo(ownRequest('/api/v1/users/me'))).status === 200) continue;
      throw new Error(`The owner may not call any more, ${CHECK_EVERY} requests up to ${name}`);
    }
  } finally {
    await server.kill();
  }
}

const ownRequest = (target: string): StoredRequest => ({ as: 'owner', method: 'GET', target, headers: {}, body: null });

/** Waits for the message that announces an export, so that later messages have the same ids in every run. */
async function exportsEnd(responseTo: (request: StoredRequest) => Promise<Answered>): Promise<void> {
  while ((await responseTo(ownRequest(EXPORTS))).answer.includes('"pending":true')) await pause(20);
}

/** Yields requests in an order in which every run creates the same objects with the same ids. */
async function* generatedRequests(organization: LargeOrganization): AsyncGenerator<NamedRequest> {
  let count = 0;
  const named = (name: string, as: Caller, request: EncodedRequest): NamedRequest => {
    const { method, target, headers, body } = request;
    return [`${++count} ${name}`, { as, method, target, headers, body: storedBody(body) }];
  };
  const existing = existingValues(organization);
  const routes = ROUTES.filter((route) => !signsOut(route));
  for (const route of routes) {
    for await (const { what, request } of validationInputs(route, existing)) {
      // Invitations that expire during the run would be listed unpredictably.
      if (EXPIRES_SOON.test(String(request.body))) continue;
      yield named(`${nameOf(route)}: ${what}`, callerOf(route), request);
      if (what === 'nothing') yield named(`${nameOf(route)}: nothing, by nobody`, 'nobody', request);
    }
  }
  for (const route of routes) {
    for (const { description, fieldsFor } of generatedInputs(route, existing)) {
      // Long texts have a rendering time limit, so results depend on the machine.
      if (description.startsWith('content:')) continue;
      const request = await encodeRequest(route, fieldsFor(HOSTILE_ROOM));
      if (request) yield named(`${nameOf(route)}, hostile: ${description}`, callerOf(route), request);
    }
  }
  const fuzzed = fuzzedRequests(FUZZ_SEED);
  for (let n = 0; n < FUZZED; n++) {
    yield named('fuzzed', n % 10 === 0 ? 'nobody' : 'owner', fuzzed.next().value as EncodedRequest);
  }
}

function callerOf({ path, roleRequirements, auth }: Route): Caller {
  if (/^\/(json|accounts)\//.test(path)) return 'browser';
  if (roleRequirements.includes('bot')) return 'bot';
  return auth === 'user' ? 'owner' : 'nobody';
}

/** Existing values for parameters that refer to objects, by parameter name. */
function existingValues({ members, channelIds, size }: LargeOrganization): Fields {
  const member = members.at(-1)!;
  return { user_id: member.id, email: member.email, stream_id: channelIds.at(-1), message_id: size.messages };
}

function storedBody(body: EncodedRequest['body']): StoredBody {
  if (body === null || (typeof body === 'string' && body.length <= MAX_PLAIN)) return body;
  return { gzip: gzipSync(body).toString('base64'), isText: typeof body === 'string' };
}

function restoredBody(body: StoredBody): EncodedRequest['body'] {
  if (body === null || typeof body === 'string') return body;
  const bytes = gunzipSync(Buffer.from(body.gzip, 'base64'));
  return body.isText ? bytes.toString() : bytes;
}

/** Returns a response without its random parts, truncated if long. */
function comparable(answer: string): string {
  const text = RANDOM_PARTS.reduce((part, [pattern, placeholder]) => part.replace(pattern, placeholder), answer);
  if (text.length <= MAX_PLAIN) return text;
  const hash = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, MAX_PLAIN)}… ${text.length} ${hash}`;
}

process.exitCode = await main(process.argv.slice(2));
