import type { Route } from '@parley/http';
import { machineSlowness } from '@parley/testkit/process-usage';
import { encodeForm, encodeMultipart, type HttpAnswer, type HttpRequest, send } from '../conformance/request.js';
import {
  type Account,
  createLargeOrganization,
  type LargeOrganization,
  signIn,
} from '../testing/large-organization.js';
import { AgreeableServices } from '../testing/other-services.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { pause } from '../testing/pause.js';
import { TestOrganization } from '../testing/test-organization.js';
import { ACCEPTED_INPUTS, acceptedInputsOf, NEVER_ACCEPTED, NO_PARAMETERS } from './accepted-inputs.js';
import { type EncodedRequest, encodeRequest } from './encode.js';
import { generatedInputs, roomOf } from './generated-inputs.js';
import { type InputContext, JWT_SECRET, PUSH_REGISTRATION } from './input-context.js';
import { type Fields, nameOf, ROUTES, signsOut } from './routes.js';
import { IS_LONG, size } from './scale.js';
import { chooseShare } from './shares.js';

/** Maximum time for which one request may block the event loop. */
const MAX_STALL_MS = 100;
/** Only an excess in every try counts, since other processes use the machine. */
const TRIES = 5;
/** Two frames of one pixel. */
const BLINKING_GIF = Buffer.from(
  'R0lGODlhAQABAIAAAExpcf8AACH/C05FVFNDQVBFMi4wAwEAAAAh+QQFCgAAACwAAAAAAQABAAACAkwBACH5BAUKAAAALAAAAAABAAEAgExpcQAA/wICTAEAOw==',
  'base64',
);
/** Long operations pause while other users write, for a multiple of their duration on a busy machine. */
const MAX_RESPONSE_MS = 600_000;
const MEGABYTE = 1024 * 1024;
/** Maximum growth of retained memory afterwards: caches, which fill further in a long run. */
const MAX_RETAINED_BYTES = size(100, 150) * MEGABYTE;
/**
 * Maximum growth per further pass: caches fill with texts of newly created objects, up to their bounds of about 250 MB.
 */
const MAX_RETAINED_BYTES_OF_PASS = 40 * MEGABYTE;
/** Maximum growth of process memory: requests and responses with thousands of long messages. */
const MAX_GROWTH_BYTES = { refusing: 400 * MEGABYTE, accepting: 1000 * MEGABYTE };

const ENDING_ACCOUNTS = ['DELETE /users/me', 'DELETE /users/:user_id'];

const share = chooseShare();

/** Operations tested with inputs in this run. */
const ROUTES_OF_SHARE = ROUTES.filter((_, index) => share.includes(index)).map(
  (route) => [nameOf(route), route] as const,
);

/** Creates the request of one try. */
type RequestOf = (account: Account) => Promise<EncodedRequest>;

interface Measurement {
  readonly what: string;
  /** Event loop stall, converted to milliseconds of the reference machine. */
  readonly stallMs: number;
  readonly peakBytes: number;
}

describe(`most expensive request of each operation (${share.name})`, () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let services: AgreeableServices;
  let large: LargeOrganization;
  let webPublicMessageId: number;
  let webPublicChannelId: number;
  let owners: readonly Account[];
  let bots: readonly Account[];
  let retainedBefore: number;
  let peakBefore: number;
  const measurements: Measurement[] = [];
  let n = 0;

  beforeAll(async () => {
    organization = new TestOrganization();
    services = await AgreeableServices.start();
    large = await createLargeOrganization(organization.database, {
      owners: size(30, 60),
      members: size(300, 3000),
      channels: size(200, 1000),
      messages: size(3000, 20_000),
    });
    server = await organization.serve(['--dev'], '0', {
      isProbed: true,
      environment: { ...services.environment, PARLEY_JWT_SECRETS: JSON.stringify({ '': JWT_SECRET }) },
    });
    owners = await signIn(server, large.owners);
    bots = await signIn(server, large.bots);
    // Events need receivers.
    await Promise.all(owners.map(openQueue));
    // Web-public content for anonymous callers.
    await call(owners[0]!, '/realm', 'method=PATCH&enable_spectator_access=true');
    const museum = await call(owners[0]!, '/channels/create', 'name=museum&subscribers=[]&is_web_public=true');
    webPublicChannelId = museum.id;
    const said = await call(owners[0]!, '/messages', 'type=channel&to=museum&topic=halls&content=paintings');
    webPublicMessageId = said.id;
    const { id } = await call(owners[0]!, '/channels/create', 'name=moderation&subscribers=[]&invite_only=true');
    await call(owners[0]!, '/realm', `method=PATCH&enable_read_receipts=true&moderation_request_channel_id=${id}`);
    await server.probe.lap();
    retainedBefore = await server.probe.retainedBytes();
    peakBefore = (await server.probe.lap()).peakBytes;
  });
  afterAll(async () => {
    await organization.close();
    await services.close();
  });

  const call = async ({ authorization }: Account, path: string, body: string) => {
    const { text } = await send({
      method: 'POST',
      url: `${server.url}/api/v1${path}`,
      headers: { Authorization: authorization, 'Content-Type': 'application/x-www-form-urlencoded' },
      body,
    });
    return JSON.parse(text);
  };
  const get = async ({ authorization }: Account, path: string) => {
    const url = `${server.url}/api/v1${path}`;
    const { text } = await send({ method: 'GET', url, headers: { Authorization: authorization }, body: null });
    return JSON.parse(text);
  };
  const postFile = async ({ authorization }: Account, path: string, name: string, content: Buffer) => {
    const { body, contentType } = await encodeMultipart({}, [{ field: 'file', name, content, type: 'text/plain' }]);
    const { text } = await send({
      method: 'POST',
      url: `${server.url}/api/v1${path}`,
      headers: { Authorization: authorization, 'Content-Type': contentType },
      body,
    });
    return JSON.parse(text);
  };
  const openQueue = async (account: Account): Promise<string> =>
    (await call(account, '/register', 'fetch_event_types=[]')).queue_id;

  async function callerOf(route: Route): Promise<Account> {
    if (signsOut(route)) {
      const [account] = await signIn(server, [large.members[n++ % large.members.length]!]);
      await server.probe.lap();
      return account!;
    }
    const callers = route.roleRequirements.includes('bot') ? bots : owners;
    return callers[n++ % callers.length]!;
  }

  const isForBrowsers = ({ path }: Route): boolean => /^\/(json|accounts)\//.test(path);

  /** A browser session needs a user with a password. */
  async function credentialsOf({ authorization }: Account, route: Route): Promise<HttpRequest['headers']> {
    if (!isForBrowsers(route)) return route.auth === 'user' ? { Authorization: authorization } : {};
    const anonymous = { Cookie: 'csrftoken=of-a-test', 'X-CSRFToken': 'of-a-test' };
    if (route.auth !== 'user') return anonymous;
    const { owners: known, password } = large;
    const { headers } = await send({
      method: 'POST',
      url: `${server.url}/accounts/login/`,
      headers: { ...anonymous, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: encodeForm({ username: known[0]!.email, password }),
    });
    await server.probe.lap();
    const cookies = headers['set-cookie']!.map((cookie) => cookie.split(';')[0]!);
    return { Cookie: cookies.join('; '), 'X-CSRFToken': cookies[1]!.split('=')[1]! };
  }

  /** Uses a different, preferably unchanged caller each time. */
  async function attempt(route: Route, requestOf: RequestOf) {
    const account = await callerOf(route);
    const request = await requestOf(account);
    const { method, target, headers, body } = request;
    const answer = await send({
      method,
      url: server.url + target,
      headers: { ...headers, ...(await credentialsOf(account, route)) },
      body,
      timeoutMs: MAX_RESPONSE_MS,
    });
    const measured = await server.probe.lap();
    await bringBack(route, account, request);
    return { answer, ...measured };
  }

  /** Reactivates users deactivated by an operation, since all are needed again. */
  async function bringBack(route: Route, account: Account, { target }: EncodedRequest): Promise<void> {
    if (!ENDING_ACCOUNTS.includes(nameOf(route))) return;
    const ids = [String(account.id), ...(/\/users\/(\d+)/.exec(target)?.slice(1) ?? [])];
    const other = owners.find(({ id }) => id !== account.id)!;
    for (const id of ids) await call(other, `/users/${id}/reactivate`, '');
    await server.probe.lap();
  }

  /** Returns problems found by the measurement. */
  async function judge(
    route: Route,
    what: string,
    requestOf: RequestOf,
    isRight: (answer: HttpAnswer) => boolean,
  ): Promise<readonly string[]> {
    const measured: Measurement[] = [];
    let best = Number.POSITIVE_INFINITY;
    while (best > MAX_STALL_MS && measured.length < TRIES) {
      const slowness = await machineSlowness(measured.length > 0);
      const { answer, peakBytes, ...lap } = await attempt(route, requestOf);
      const stallMs = lap.stallMs / slowness;
      measured.push({ what: `${nameOf(route)}, ${what}`, stallMs, peakBytes });
      best = Math.min(best, stallMs);
      if (!isRight(answer)) return [`${what}: ${answer.status} ${answer.text.slice(0, 300)}`];
    }
    measurements.push(measured.find(({ stallMs }) => stallMs === best)!);
    return best > MAX_STALL_MS ? [`${what}: ${best.toFixed(0)} ms`] : [];
  }

  const acceptedBy = (route: Route) => acceptedInputsOf(route) ?? NO_PARAMETERS;
  const inputContextOf = (account: Account): InputContext => ({
    organization: large,
    webPublicMessageId,
    webPublicChannelId,
    n,
    openQueue: async () => {
      const id = await openQueue(account);
      await server.probe.lap();
      return id;
    },
    makeChannel: async (name: string) => {
      const { id } = await call(
        account,
        '/channels/create',
        new URLSearchParams({ name, subscribers: '[]' }).toString(),
      );
      await server.probe.lap();
      return id;
    },
    aMember: () => large.members.at(-1 - (n++ % 100))!.id,
    makeProfileField: async () => {
      const { id } = await call(account, '/realm/profile_fields', `field_type=2&name=Made${n++}`);
      await server.probe.lap();
      return id;
    },
    addBot: async () => {
      const { user_id } = await call(account, '/bots', `full_name=Bot number ${n}&short_name=made${n}`);
      await server.probe.lap();
      return user_id;
    },
    makeGroup: async (members: readonly number[]) => {
      const fields = new URLSearchParams({ name: `Made ${n++}`, description: '', members: JSON.stringify(members) });
      const { group_id } = await call(account, '/user_groups/create', fields.toString());
      await server.probe.lap();
      return group_id;
    },
    addDevice: async () => {
      const { device_id } = await call(account, '/register_client_device', '');
      await server.probe.lap();
      return device_id;
    },
    registerDevice: async () => {
      const { device_id } = await call(account, '/register_client_device', '');
      const fields = Object.entries({ device_id, ...PUSH_REGISTRATION }).map(([name, value]) => [name, String(value)]);
      await call(account, '/mobile_push/register', new URLSearchParams(fields).toString());
      for (;;) {
        const { devices } = await call(account, '/register', 'fetch_event_types=["device"]&event_types=[]');
        if (devices[device_id].push_token_id !== null) break;
        await pause(50);
      }
      await server.probe.lap();
      return device_id;
    },
    addToken: async (kind) => {
      const token = 'ab'.repeat(2048);
      const [path, more] = kind === 'apns' ? ['apns_device_token', '&appid=a'] : ['android_gcm_reg_id', ''];
      await call(account, `/users/me/${path}`, `token=${token}${more}`);
      await server.probe.lap();
      return token;
    },
    upload: async () => {
      const { url } = await postFile(account, '/user_uploads', 'a.txt', Buffer.from('hello'));
      const path = String(url).slice('/user_uploads/'.length);
      const { attachments } = await get(account, '/attachments');
      const { id } = attachments.find((file: { readonly path_id: string }) => file.path_id === path);
      await server.probe.lap();
      return { id, path };
    },
    uploadImage: async (image) => {
      const { url } = await postFile(account, '/user_uploads', 'a.png', image);
      const thumbnail = `${String(url).slice('/user_uploads/'.length)}/840x560.webp`;
      const headers = { Authorization: account.authorization };
      for (;;) {
        const path = `/user_uploads/thumbnail/${thumbnail}`;
        if ((await send({ method: 'GET', url: server.url + path, headers, body: null })).status === 200) break;
        await pause(50);
      }
      await server.probe.lap();
      return thumbnail;
    },
    beginUpload: async (fields) => {
      const request = await encodeRequest(ROUTES.find((route) => nameOf(route) === 'POST /tus/')!, fields);
      const headers = { ...request!.headers, Authorization: account.authorization, 'Content-Type': null };
      const answer = await send({ method: 'POST', url: server.url + request!.target, headers, body: '' });
      await server.probe.lap();
      return decodeURIComponent(answer.headers.location!.split('/tus/')[1]!);
    },
    sendForm: async (path: string, fields: Fields) => {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const body = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString();
      await send({ method: 'POST', url: server.url + path, headers, body });
      await server.probe.lap();
    },
    keyEmailedTo: async (email: string) => {
      for (;;) {
        const key = organization.newestEmailTo(email)?.match(/\/([a-z2-7]{40})\s/)?.[1];
        if (key !== undefined) {
          await server.probe.lap();
          return key;
        }
        await pause(20);
      }
    },
    addEmoji: async () => {
      const name = `emoji-${n++}`;
      await postFile(account, `/realm/emoji/${name}`, 'a.gif', BLINKING_GIF);
      const emoji: Record<string, { readonly id: string; readonly name: string }> = (await get(account, '/realm/emoji'))
        .emoji;
      await server.probe.lap();
      return Object.values(emoji).find((it) => it.name === name)!;
    },
    get: async (path: string) => {
      const answer = await get(account, path);
      await server.probe.lap();
      return answer;
    },
    post: async (path: string, fields: Fields) => {
      const form = new URLSearchParams();
      for (const [name, value] of Object.entries(fields)) {
        form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
      }
      const answer = await call(account, path, form.toString());
      await server.probe.lap();
      return answer;
    },
    react: async () => {
      const reacted = { message_id: n + 1, emoji_name: 'tada' };
      await call(account, `/messages/${reacted.message_id}/reactions`, 'emoji_name=tada');
      await server.probe.lap();
      return reacted;
    },
  });

  it('exists for exactly the operations of the route table', () => {
    const unknown = ROUTES.filter((route) => !acceptedInputsOf(route)).map(nameOf);
    expect(unknown.filter((name) => !NEVER_ACCEPTED.has(name))).toEqual([]);
    const names = ROUTES.map(nameOf);
    expect(Object.keys(ACCEPTED_INPUTS).filter((name) => !names.includes(name))).toEqual([]);
  });

  // Runs before other tests, since an organization may request only five exports a week.
  it('creates, sends and deletes an export within its time', async () => {
    const [owner] = owners;
    const routeNamed = (name: string) => ROUTES.find((route) => nameOf(route) === name)!;
    const judgeFirst = (name: string, fields: Fields) => {
      const requestOf = async () => (await encodeRequest(routeNamed(name), fields))!;
      return judge(routeNamed(name), 'an export', requestOf, ({ status }) => status === 200);
    };
    const complete = async (): Promise<{ readonly id: number; readonly export_url: string | null }> => {
      for (;;) {
        const { exports } = await get(owner!, '/export/realm');
        if (exports.every(({ pending }: { readonly pending: boolean }) => !pending)) return exports.at(-1);
        await pause(50);
      }
    };
    expect(await judgeFirst('POST /export/realm', { export_type: 'full_with_consent' })).toEqual([]);
    const { id, export_url: address } = await complete();
    const { stallMs } = await server.probe.lap();
    expect(stallMs).toBeLessThan(MAX_STALL_MS * (await machineSlowness(true)));
    const path = decodeURIComponent(new URL(address!).pathname.slice('/user_avatars/exports/'.length));
    expect(await judgeFirst('GET /user_avatars/exports/*path_id', { path_id: path })).toEqual([]);
    expect(await judgeFirst('DELETE /export/realm/:export_id', { export_id: id })).toEqual([]);
  });

  it.each(ROUTES_OF_SHARE)('%s survives the largest generated inputs', async (_name, route) => {
    const wrong: string[] = [];
    const [first] = Object.values(acceptedBy(route));
    for (const { description, fieldsFor } of generatedInputs(route, await first!(inputContextOf(owners[0]!)))) {
      let request: EncodedRequest | null = null;
      for (let room = roomOf(route); !request; room *= 0.8) request = await encodeRequest(route, fieldsFor(room));
      const encoded = request;
      wrong.push(...(await judge(route, description, async () => encoded, isNoFailure)));
    }
    expect(wrong).toEqual([]);
  });

  it('leaves memory unchanged after rejected requests', () => expectMemory(MAX_GROWTH_BYTES.refusing));

  it.each(ROUTES_OF_SHARE.filter(([name]) => !NEVER_ACCEPTED.has(name)))(
    '%s handles accepted requests in time',
    async (_name, route) => {
      const wrong: string[] = [];
      for (const [what, input] of Object.entries(acceptedBy(route))) {
        const requestOf = async (account: Account) => {
          const request = await encodeRequest(route, await input(inputContextOf(account)));
          if (!request) throw new Error(`${what} does not fit into a request`);
          return request;
        };
        // Forms redirect to another page.
        const isTaken = ({ status }: HttpAnswer) => [200, 201, 204, 302, 303].includes(status);
        wrong.push(...(await judge(route, what, requestOf, isTaken)));
      }
      expect(wrong).toEqual([]);
    },
  );

  it('leaves memory unchanged after accepted requests except for caches', async () => {
    if (IS_LONG || process.env.HOSTILE_REPORT) report(measurements);
    await expectMemory(MAX_GROWTH_BYTES.accepting);
  });

  if (IS_LONG) {
    it('retains no memory beyond the caches after repeated passes', async () => {
      const pass = async () => {
        for (const [name, route] of ROUTES_OF_SHARE) {
          if (NEVER_ACCEPTED.has(name)) continue;
          for (const input of Object.values(acceptedBy(route))) {
            await attempt(
              route,
              async (account) => (await encodeRequest(route, await input(inputContextOf(account))))!,
            );
          }
        }
        return server.probe.retainedBytes();
      };
      const [first, second] = [await pass(), await pass()];
      expect(second - first).toBeLessThan(MAX_RETAINED_BYTES_OF_PASS);
    }, 3_600_000);
  }

  async function expectMemory(maxGrowth: number): Promise<void> {
    expect((await server.probe.retainedBytes()) - retainedBefore).toBeLessThan(MAX_RETAINED_BYTES);
    expect(Math.max(...measurements.map(({ peakBytes }) => peakBytes)) - peakBefore).toBeLessThan(maxGrowth);
    expect(server.output).not.toContain('"level":"error"');
  }
});

const isNoFailure = ({ status, headers }: HttpAnswer): boolean =>
  status < 500 || (status === 503 && headers['retry-after'] !== undefined);

const TOP = 10;

function report(measurements: readonly Measurement[]): void {
  const top = (value: (one: Measurement) => number, unit: string) =>
    [...measurements]
      .sort((a, b) => value(b) - value(a))
      .slice(0, TOP)
      .map((one) => `  ${value(one).toFixed(0).padStart(6)} ${unit}  ${one.what}`);
  console.log(
    [
      `${measurements.length} requests. Longest on the event loop:`,
      ...top(({ stallMs }) => stallMs, 'ms'),
      'Most memory of the process while it was answered:',
      ...top(({ peakBytes }) => peakBytes / MEGABYTE, 'MB'),
    ].join('\n'),
  );
}
