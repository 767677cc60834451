import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const PATH = '/users/me/alert_words';

const { server, people } = organizationPerTest();
beforeEach(async () => {
  await server.createChannel('town', [people.hamlet, people.iago, people.polonius]);
});

const wordsIn = (fields: Wire): string[] => fields.alert_words;
const list = async (as = people.hamlet) => wordsIn(fieldsOf(await server.get(PATH, as)));
const add = async (words: readonly string[], as = people.hamlet) =>
  wordsIn(fieldsOf(await server.post(PATH, as, { alert_words: words })));
const remove = async (words: readonly string[], as = people.hamlet) =>
  wordsIn(fieldsOf(await server.delete(PATH, as, { alert_words: words })));
const say = (content: string, to: string | readonly TestUser[] = 'town') =>
  server.sendMessage(people.iago, to, { topic: 'x', content });

it('alert words are stored once in the given spelling and published only to their user', async () => {
  const { hamlet, cordelia } = people;
  const queue = await openQueue(server, hamlet);
  const other = await openQueue(server, cordelia);
  expect(await add([' Tea ', '', '  ', 'coffee', 'COFFEE'])).toEqual(['Tea', 'COFFEE']);
  expect(await add(['tea'])).toEqual(['Tea', 'COFFEE']);
  expect(await remove(['coffee', 'milk'])).toEqual(['Tea']);
  expect(await add([])).toEqual(['Tea']);
  expect(await list()).toEqual(['Tea']);
  const events = [['Tea', 'COFFEE'], ['Tea', 'COFFEE'], ['Tea'], ['Tea']];
  expect(await eventsAfter(server, queue)).toEqual(events.map((alert_words) => ({ type: 'alert_words', alert_words })));
  const { registered } = await openQueue(server, hamlet, { fetch_event_types: ['alert_words'] });
  expect(registered.alert_words).toEqual(['Tea']);
  expect([await list(cordelia), await eventsAfter(server, other)]).toEqual([[], []]);
});

it('alert words flag messages for recipients who have the word', async () => {
  const { hamlet, polonius, cordelia } = people;
  await add(['Tea', 'high tea', 'C++', ':)']);
  await add(['coffee'], polonius);
  await add(['tea'], cordelia);
  const queue = await openQueue(server, hamlet, { event_types: ['message'] });
  const tea = await say('more TEA, please');
  expect(await server.flagsOf(tea, hamlet)).toEqual(['has_alert_word']);
  expect(await server.flagsOf(tea, polonius)).toEqual([]);
  expect(await server.flagsOf(tea, cordelia)).toEqual(['read', 'historical']);
  expect(await eventsAfter(server, queue)).toMatchObject([{ flags: ['has_alert_word'] }]);
  for (const content of ['(tea)', 'a high tea!', 'in c++', 'well :)', '**Tea**']) {
    expect([content, await server.flagsOf(await say(content), hamlet)]).toEqual([content, ['has_alert_word']]);
  }
  for (const content of ['teapot', 'steam', '```\ntea\n```']) {
    expect([content, await server.flagsOf(await say(content), hamlet)]).toEqual([content, []]);
  }
  expect(await server.flagsOf(await say('tea?', [hamlet]), hamlet)).toEqual(['has_alert_word']);
  await remove(['TEA']);
  expect(await server.flagsOf(await say('tea'), hamlet)).toEqual([]);
});

it("alert words of another organization's users have no effect", async () => {
  const realmId = await server.addRealm('lear');
  const regan = await server.addUser({ email: 'regan@lear.com', fullName: 'Regan', realmId });
  fieldsOf(await server.request('POST', PATH, { as: regan, realm: 'lear', params: { alert_words: ['tea'] } }));
  expect(await server.flagsOf(await say('tea'), people.hamlet)).toEqual([]);
});

it.each([
  [{ alert_words: 'tea' }, 'alert_words is not valid JSON'],
  [{ alert_words: [5] }, 'alert_words[0] is not a string'],
  [{ alert_words: ['x'.repeat(101)] }, 'alert_words[0] is too long (limit: 100 characters)'],
])('alert word request is rejected if invalid: %#', async (params, msg) => {
  expectRefusal(await server.post(PATH, people.hamlet, params), msg);
  expectRefusal(await server.delete(PATH, people.hamlet, params), msg);
  expect(await list()).toEqual([]);
});

it('alert word request is rejected if it is empty or has too many words', async () => {
  const missing = { code: 'REQUEST_VARIABLE_MISSING', var_name: 'alert_words' };
  expectRefusal(await server.post(PATH, people.hamlet), "Missing 'alert_words' argument", missing);
  expectRefusal(await server.delete(PATH, people.hamlet), "Missing 'alert_words' argument", missing);
  const many = Array.from({ length: 500 }, (_, n) => `word ${n}`);
  await add(many);
  expectRefusal(
    await server.post(PATH, people.hamlet, { alert_words: ['more'] }),
    'Too many alert words (limit: 500).',
  );
  expect(await add(['WORD 7'])).toEqual(many);
});
