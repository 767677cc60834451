import { CheckEmailAddress } from '@parley/domain/push';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { postFiles } from '../testing/multipart.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const incomingMail = { token: 'the-token-of-the-gateway-is-long-enough', maxBytes: 1000, smtp: {} };
const realm = 'zulip';

/** Issues credentials for new rows with ids that follow from the earlier data. */
async function issue(server: TestServer) {
  const { desdemona, hamlet } = server.people;
  const { realmId } = server;
  const yorick = await server.addUser({ email: 'yorick@zulip.com', fullName: 'Yorick' });
  const bot = await server.addBot(hamlet, 'hook', 'incomingWebhook');
  const { url } = fieldsOf(await postFiles(server, '/user_uploads', hamlet, [{ name: 'a.txt', content: 'a' }])) as Wire;
  const temporary = fieldsOf(await server.get(url, hamlet)) as Wire;
  const { invite_link } = fieldsOf(await server.post('/invites/multiuse', desdemona, {})) as Wire;
  const invitee = { invitee_emails: 'osric@zulip.com', stream_ids: [] };
  fieldsOf(await server.post('/invites', desdemona, invitee));
  const { invites } = fieldsOf(await server.get('/invites', desdemona)) as { invites: Wire[] };
  const invited = invites.find(({ is_multiuse }) => !is_multiuse)!.id;
  await server.post('//accounts/password/reset/', null, { email: yorick.email });
  const visitor = await server.parley.visitors.start({ realm });
  const reply = {
    realmId,
    userId: yorick.id,
    conversation: 'direct 1',
    messageId: 1 as never,
    expiresAt: 2_000_000_000,
  };
  const address = await server.storage.uow.write(realmId, (tx) => tx.replyAddresses.open(reply));
  const { api_key: regenerated } = fieldsOf(await server.post('/users/me/api_key/regenerate', hamlet)) as Wire;
  return {
    ids: [yorick.id, bot.id, invites.map(({ id }) => id), visitor.user.id, address.id, url],
    'API key of a new user': [yorick.email, yorick.apiKey],
    'regenerated API key': [hamlet.email, regenerated],
    'webhook address with the key of a bot': [`/external/json?api_key=${bot.apiKey}`],
    'invitation link': [new URL(invite_link).pathname],
    'email invitation': [`/accounts/do_confirm/${await server.linkKey('invitation', invited)}`],
    'link for a new password': [`/accounts/password/reset/${await server.linkKey('confirmation', 1)}`],
    'link that turns off emails': [await server.linkKey('unsubscribe', yorick.id)],
    'reply address': [`mail+mm${server.parley.ports.mailGateway!.replyKeys.derive(address)}@example.com`],
    'temporary address of a file': [temporary.url],
    "visitor's token": [visitor.token],
  } as const;
}

type Issued = Awaited<ReturnType<typeof issue>>;
type Kind = Exclude<keyof Issued, 'ids'>;
type Opens = (server: TestServer, ...credential: string[]) => Promise<boolean>;

const opensAccount: Opens = async (server, email, apiKey) =>
  (await server.get('/users/me', { email, apiKey } as TestUser)).status === 200;
const opensPage: Opens = async (server, path) => (await server.get(`/${path}`, null)).status < 400;

const OPENS: Readonly<Record<Kind, Opens>> = {
  'API key of a new user': opensAccount,
  'regenerated API key': opensAccount,
  'webhook address with the key of a bot': async (server, path) =>
    (await server.request('POST', path!, { body: '{}', headers: { 'Content-Type': 'application/json' } })).status !==
    401,
  'invitation link': opensPage,
  'email invitation': opensPage,
  'link for a new password': opensPage,
  'link that turns off emails': async (server, key) =>
    (await server.post(`//accounts/unsubscribe/login/${key}/`, null)).status < 400,
  'reply address': (server, address) =>
    server.parley
      .useCase(CheckEmailAddress)
      .execute(address!)
      .then(
        () => true,
        () => false,
      ),
  'temporary address of a file': opensPage,
  "visitor's token": async (server, token) => (await server.parley.visitors.find({ realm, token: token! })) !== null,
};

describe('restore of a backup', () => {
  let lost: { server: TestServer; issued: Issued };
  let restored: { server: TestServer; issued: Issued };

  // Both servers begin with the same rows and the same secret.
  beforeAll(async () => {
    const [first, second] = [await TestServer.start({ incomingMail }), await TestServer.start({ incomingMail })];
    lost = { server: first, issued: await issue(first) };
    restored = { server: second, issued: await issue(second) };
  });
  afterAll(async () => {
    await restored.server.close();
    await lost.server.close();
  });

  it('lets ids start again', () => {
    expect(restored.issued.ids).toEqual(lost.issued.ids);
  });

  it.each(Object.entries(OPENS) as [Kind, Opens][])(
    'ends what was issued after the backup: %s',
    async (kind, opens) => {
      expect(await opens(lost.server, ...lost.issued[kind])).toBe(true);
      expect(await opens(restored.server, ...lost.issued[kind])).toBe(false);
      expect(await opens(restored.server, ...restored.issued[kind])).toBe(true);
    },
  );
});
