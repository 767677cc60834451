import { send } from '../conformance/request.js';
import { type Account, createLargeOrganization, signIn } from '../testing/large-organization.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { TestOrganization } from '../testing/test-organization.js';

const REQUESTS = 60;
const JUNK = 'x'.repeat(300_000);
/** Half of the size of all requests; retained results must be smaller. */
const MAX_KEPT_BYTES = 10_000_000;

/**
 * Detects retained request bodies. Runs in a separate process, since other memory would slow garbage collection and
 * distort the result.
 */
describe('server memory after long requests', () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let owner: Account;

  beforeAll(async () => {
    organization = new TestOrganization();
    const { owners } = await createLargeOrganization(organization.database, {
      owners: 1,
      members: 0,
      channels: 1,
      messages: 1,
    });
    server = await organization.serve(['--dev'], '0', { isProbed: true });
    [owner] = (await signIn(server, owners)) as [Account];
  });
  afterAll(() => organization.close());

  it.each<[string, string, (n: number) => { readonly path: string; readonly fields: string }]>([
    ['a status', 'POST', (n) => ({ path: '/users/me/status', fields: `status_text=at_lunch_until_number_${n}` })],
    [
      'alert words',
      'POST',
      (n) => ({ path: '/users/me/alert_words', fields: `alert_words=["a_word_of_number_${n}"]` }),
    ],
    [
      'a snippet',
      'POST',
      (n) => ({ path: '/saved_snippets', fields: `title=a_title_of_number_${n}&content=a_text_of_number_${n}` }),
    ],
    [
      'a message',
      'POST',
      (n) => ({
        path: '/messages',
        fields: `type=direct&to=[${owner.id}]&content=a_text_of_number_${n}&client=a_client_of_number_${n}`,
      }),
    ],
    [
      'a channel',
      'POST',
      (n) => ({
        path: '/channels/create',
        fields: `name=a_channel_of_number_${n}&subscribers=[]&description=a_text_of_number_${n}`,
      }),
    ],
    [
      'a group',
      'POST',
      (n) => ({
        path: '/user_groups/create',
        fields: `name=a_group_of_number_${n}&description=a_text_of_number_${n}&members=[]`,
      }),
    ],
    [
      'a queue',
      'POST',
      (n) => ({ path: '/register', fields: `event_types=["message"]&narrow=[["topic","a_topic_of_number_${n}"]]` }),
    ],
    ['a name', 'PATCH', (n) => ({ path: '/settings', fields: `full_name=a_name_of_number_${n}` })],
    ['a description', 'PATCH', (n) => ({ path: '/realm', fields: `description=a_text_of_number_${n}` })],
    [
      'a draft',
      'POST',
      (n) => ({
        path: '/drafts',
        fields: `drafts=[{"type":"","to":[],"topic":"","content":"a_text_of_number_${n}"}]`,
      }),
    ],
  ])('retains only one value for %s', async (_, method, requestFor) => {
    const ask = async (n: number): Promise<void> => {
      const { path, fields } = requestFor(n);
      // Contains no escapes, so that substrings would reference the request text.
      const { status, text } = await send({
        method,
        url: `${server.url}/api/v1${path}`,
        headers: {
          authorization: owner.authorization,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: `${fields}&junk=${JUNK}`,
      });
      expect([status, text]).toEqual([200, expect.stringContaining('"result":"success"')]);
    };
    await ask(REQUESTS);
    const before = await server.probe.retainedBytes();
    for (let n = 0; n < REQUESTS; n++) await ask(n);
    expect((await server.probe.retainedBytes()) - before).toBeLessThan(MAX_KEPT_BYTES);
  });
});
