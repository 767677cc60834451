import { retainedBytes } from '@parley/testkit/process-usage';
import { fieldsOf } from '../testing/expectations.js';
import { TestServer } from '../testing/test-server.js';

const REQUESTS = 60;
const JUNK = 'x'.repeat(300_000);
/** Half of what the requests are together; what they have made, and what is remembered of them, is less. */
const MAX_KEPT_BYTES = 10_000_000;

/** What somebody says in a long request is kept without it. Everything is in memory here, so that all that is stored is looked at. */
describe('long requests are gone once they are answered', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    fieldsOf(await server.post('/channels/create', server.people.desdemona, { name: 'halls', subscribers: [] }));
  });
  afterAll(() => server.close());

  it.each<[string, string, (n: number) => string]>([
    ['POST', '/users/me/status', (n) => `status_text=at_lunch_until_number_${n}`],
    ['POST', '/users/me/alert_words', (n) => `alert_words=["a_word_of_number_${n}"]`],
    ['POST', '/saved_snippets', (n) => `title=a_title_of_number_${n}&content=a_text_of_number_${n}`],
    ['POST', '/messages', (n) => `type=channel&to=halls&topic=a_topic_of_number_${n}&content=a_text_of_number_${n}`],
    ['POST', '/messages', (n) => `type=channel&to=halls&topic=t&content=one_text&client=a_client_of_number_${n}`],
    [
      'POST',
      '/channels/create',
      (n) => `name=a_channel_of_number_${n}&subscribers=[]&description=a_text_of_number_${n}`,
    ],
    ['POST', '/user_groups/create', (n) => `name=a_group_of_number_${n}&description=a_text_of_number_${n}&members=[]`],
    ['POST', '/register', (n) => `event_types=["message"]&narrow=[["topic","a_topic_of_number_${n}"]]`],
    ['PATCH', '/settings', (n) => `full_name=a_name_of_number_${n}`],
    ['PATCH', '/realm', (n) => `description=a_text_of_number_${n}`],
    ['POST', '/drafts', (n) => `drafts=[{"type":"","to":[],"topic":"","content":"a_text_of_number_${n}"}]`],
    [
      'POST',
      '/navigation_views',
      (n) => `fragment=a_fragment_of_number_${n}&is_pinned=true&name=a_name_of_number_${n}`,
    ],
  ])('%s %s', async (method, path, fieldsFor) => {
    const send = async (n: number): Promise<void> => {
      // Nothing is escaped, so that the text of the request is what the pieces are of.
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'User-Agent': `client_of_number_${n}` };
      const body = `${fieldsFor(n)}&junk=${JUNK}`;
      fieldsOf(await server.request(method, path, { as: server.people.desdemona, headers, body }));
    };
    await send(REQUESTS);
    const before = retainedBytes();
    for (let n = 0; n < REQUESTS; n++) await send(n);
    expect(retainedBytes() - before).toBeLessThan(MAX_KEPT_BYTES);
  });
});
