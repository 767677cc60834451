import { HmacMeetingLinks } from '@parley/node-adapters';
import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { TestBigBlueButton } from '../testing/test-big-blue-button.js';
import { TestBrowser } from '../testing/test-browser.js';
import { type TestPerson, TestServer, type TestUser } from '../testing/test-server.js';

let service: TestBigBlueButton;
let server: TestServer;
let bare: TestServer;
let people: Record<TestPerson, TestUser>;
beforeAll(async () => {
  service = await TestBigBlueButton.start();
  server = await TestServer.start({ bigBlueButton: service.account });
  bare = await TestServer.start();
  people = server.people;
});
beforeEach(() => {
  service.failure = null;
  service.created.length = 0;
});
afterAll(async () => {
  await server.close();
  await bare.close();
  await service.close();
});

const create = (as: TestUser | null, params: object, on = server) =>
  on.request('GET', '/calls/bigbluebutton/create', { as, params: { ...params } });
const created = async (as: TestUser, params: object = { meeting_name: 'Hall' }, on = server): Promise<string> =>
  fieldsOf(await create(as, params, on)).url;
const join = (as: TestUser | null, url: string, on = server) => on.request('GET', `/${url}`, { as });
const joined = async (as: TestUser, url: string) => {
  const { status, headers } = await join(as, url);
  return { status, parameters: service.joinedBy(String(headers.location)) };
};

describe('BigBlueButton call (organization §20)', () => {
  it.each(['desdemona', 'hamlet', 'polonius'] as const)(
    'creates a call by %s without contacting BigBlueButton',
    async (who) => {
      const url = await created(people[who]);
      expect(url).toMatch(/^\/calls\/bigbluebutton\/join\?bigbluebutton=[\w.-]+$/);
      expect(await created(people[who])).not.toBe(url);
      expect(service.created).toEqual([]);
    },
  );

  it('opens the meeting for each participant with only its creator as moderator', async () => {
    const url = await created(people.hamlet, { meeting_name: "Hamlet's (room) & 100% + ü 🎉!*~", voice_only: true });
    const { status, parameters } = await joined(people.hamlet, url);
    expect(service.created).toEqual([
      {
        meetingID: expect.stringMatching(/^parley-[0-9a-f-]{36}$/),
        name: "Hamlet's (room) & 100% + ü 🎉!*~",
        lockSettingsDisableCam: 'true',
      },
    ]);
    const { meetingID } = service.created[0]!;
    const meeting = { meetingID, createTime: '1700000000123' };
    expect([status, parameters]).toEqual([302, { ...meeting, role: 'MODERATOR', fullName: 'King Hamlet' }]);
    expect(await joined(people.cordelia, url)).toEqual({
      status: 302,
      parameters: { ...meeting, role: 'VIEWER', fullName: "Cordelia, Lear's daughter" },
    });
    expect(await joined(people.desdemona, url)).toMatchObject({ parameters: { role: 'VIEWER' } });
  });

  it('enables cameras unless an audio call is requested', async () => {
    await joined(people.hamlet, await created(people.hamlet));
    expect(service.created).toMatchObject([{ name: 'Hall', lockSettingsDisableCam: 'false' }]);
  });

  it('joins from a browser with a log-in session', async () => {
    const browser = await TestBrowser.loggedIn(server, people.cordelia);
    const reply = await browser.get(await created(people.hamlet));
    expect([reply.status, reply.headers['cache-control']]).toEqual([302, 'no-store']);
    expect(service.joinedBy(String(reply.headers.location))).toMatchObject({ fullName: "Cordelia, Lear's daughter" });
  });

  it('requires a name and valid parameters', async () => {
    expectRefusal(await create(people.hamlet, {}), "Missing 'meeting_name' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'meeting_name',
    });
    expectRefusal(
      await create(people.hamlet, { meeting_name: 'a', voice_only: 'perhaps' }),
      'voice_only is not valid JSON',
    );
    expectRefusal(
      await create(people.hamlet, { meeting_name: 'ü'.repeat(513) }),
      'meeting_name is too long (limit: 512 characters)',
    );
    fieldsOf(await create(people.hamlet, { meeting_name: 'ü'.repeat(512) }));
  });

  it('requires authentication', async () => {
    const url = await created(people.hamlet);
    expect((await create(null, { meeting_name: 'a' })).status).toBe(401);
    expect((await join(null, url)).status).toBe(401);
    expect(service.created).toEqual([]);
  });

  it('rejects forged, modified and foreign links', async () => {
    const url = await created(people.hamlet);
    const [path, text, signature] = /^(.*=)(.*)\.(.*)$/.exec(url)!.slice(1) as [string, string, string];
    const claims = JSON.parse(Buffer.from(text, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, moderatorId: people.cordelia.id })).toString('base64url');
    const foreign = `${path}${new HmacMeetingLinks('the secret of another server').sign(claims)}`;
    for (const wrong of [
      `${path}abc`,
      `${path}.`,
      `${path}${forged}.${signature}`,
      `${path}${text}.${'A'.repeat(43)}`,
      foreign,
    ]) {
      expectRefusal(await join(people.cordelia, wrong), 'Invalid signature.');
    }
    expectRefusal(await join(people.cordelia, '/calls/bigbluebutton/join'), "Missing 'bigbluebutton' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'bigbluebutton',
    });
    expect(service.created).toEqual([]);
  });

  it('rejects participants of another organization', async () => {
    const realmId = await server.addRealm('other');
    const outsider = await server.addUser({ email: 'o@other.example', fullName: 'Other', realmId });
    const url = await created(people.hamlet);
    expectRefusal(await server.request('GET', `/${url}`, { as: outsider, realm: 'other' }), 'Invalid signature.');
    expect(service.created).toEqual([]);
  });

  it.each([
    [500, '', 'Error connecting to the BigBlueButton server.'],
    [404, '<response><returncode>SUCCESS</returncode></response>', 'Error connecting to the BigBlueButton server.'],
    [200, 'x'.repeat(200_000), 'Error connecting to the BigBlueButton server.'],
    [
      200,
      '<response><returncode>FAILED</returncode><messageKey>checksumError</messageKey></response>',
      'Error authenticating to the BigBlueButton server.',
    ],
    [
      200,
      '<response><returncode>FAILED</returncode><messageKey>idNotUnique</messageKey></response>',
      'BigBlueButton server returned an unexpected error.',
    ],
    [
      200,
      '<response><returncode>SUCCESS</returncode></response>',
      'BigBlueButton server returned an unexpected error.',
    ],
    [200, 'no XML', 'BigBlueButton server returned an unexpected error.'],
  ])('reports the problem when BigBlueButton responds with %d %.60s', async (status, body, message) => {
    service.failure = { status, body };
    expectRefusal(await join(people.hamlet, await created(people.hamlet)), message);
  });

  it('does not follow redirects of the BigBlueButton server', async () => {
    service.failure = { status: 302, body: '', headers: { Location: `${service.account.url}/elsewhere` } };
    expectRefusal(
      await join(people.hamlet, await created(people.hamlet)),
      'Error connecting to the BigBlueButton server.',
    );
  });

  it('reports an unreachable server and a wrong secret', async () => {
    const gone = await TestBigBlueButton.start();
    const { account } = gone;
    await gone.close();
    const others = [
      [account, 'Error connecting to the BigBlueButton server.'],
      [{ ...service.account, secret: 'another' }, 'Error authenticating to the BigBlueButton server.'],
    ] as const;
    for (const [bigBlueButton, message] of others) {
      const other = await TestServer.start({ bigBlueButton });
      const { hamlet } = other.people;
      expectRefusal(await join(hamlet, await created(hamlet, { meeting_name: 'a' }, other), other), message);
      await other.close();
    }
  });
});

describe('call provider of an organization', () => {
  const registered = async (on: TestServer) =>
    fieldsOf(await on.post('/register', on.people.iago, { fetch_event_types: ['realm'] })) as Record<string, unknown>;
  const BOTH = { disabled: { name: 'None', id: 0 }, jitsi_meet: { name: 'Jitsi Meet', id: 1 } };

  it('accepts BigBlueButton if its server is configured', async () => {
    fieldsOf(await server.patch('/realm', people.iago, { video_chat_provider: 4 }));
    expect(await registered(server)).toMatchObject({
      realm_video_chat_provider: 4,
      realm_available_video_chat_providers: { ...BOTH, big_blue_button: { name: 'BigBlueButton', id: 4 } },
    });
    expectRefusal(
      await server.patch('/realm', people.hamlet, { video_chat_provider: 4 }),
      'Must be an organization administrator',
      {
        code: 'UNAUTHORIZED_PRINCIPAL',
      },
    );
  });

  it('rejects BigBlueButton if no server is configured', async () => {
    const change = await bare.patch('/realm', bare.people.iago, { video_chat_provider: 4 });
    expectRefusal(change, 'Invalid video_chat_provider 4');
    // The provider is validated first.
    const both = { video_chat_provider: 4, gif_rating_policy: 99 };
    expectRefusal(await bare.patch('/realm', bare.people.iago, both), 'Invalid video_chat_provider 4');
    const { realm_video_chat_provider, realm_available_video_chat_providers } = await registered(bare);
    expect([realm_video_chat_provider, realm_available_video_chat_providers]).toEqual([1, BOTH]);
  });

  it('rejects joining before checking the link if BigBlueButton is not configured', async () => {
    const { hamlet } = bare.people;
    const url = await created(hamlet, { meeting_name: 'a' }, bare);
    expectRefusal(await join(hamlet, url, bare), 'BigBlueButton is not configured.');
    expectRefusal(await join(hamlet, `${url}x`, bare), 'BigBlueButton is not configured.');
  });
});
