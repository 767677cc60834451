import { PlanDigests, ScheduleDigests, SendDigests } from '@parley/domain/push';
import { PresenceBoard } from '@parley/domain/users';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const DAY = 86_400;

const { server, people } = serverPerTest();
beforeEach(async () => {
  await server.createChannel('news', [people.hamlet, people.iago, people.cordelia]);
  await setRealm({ digest_emails_enabled: true, digest_weekday: 1 });
  // The clock starts on a Monday, when all users have just joined.
  server.clock.advance(6 * DAY);
});

const setRealm = async (settings: Wire) => fieldsOf(await server.patch('/realm', people.desdemona, settings));
const set = async (as: TestUser, settings: Wire) => fieldsOf(await server.patch('/settings', as, settings));
const post = (topic: string, content: string, as = people.iago, to: string | TestUser[] = 'news') =>
  server.sendMessage(as, to, { topic, content });

/** Lets days pass and returns emails by recipient. Iago and Cordelia use the chat every day. */
async function emails({ days = 2, present = [people.iago, people.cordelia] } = {}): Promise<Wire[]> {
  for (let day = 0; day < days; day++) {
    for (const user of present) fieldsOf(await server.post('/users/me/presence', user, { status: 'active' }));
    await server.parley.useCase(PlanDigests).execute();
    server.clock.advance(DAY);
    await runJobs(server, server.parley.useCase(ScheduleDigests));
    await runJobs(server, server.parley.useCase(SendDigests));
  }
  return server.mailer.emails.splice(0).sort((a, b) => (a.to < b.to ? -1 : 1));
}
const toHamlet = async (options = {}): Promise<Wire[]> =>
  (await emails(options)).filter(({ to }) => to === people.hamlet.email);

describe('weekly digest', () => {
  it('shows the most active unread conversations and new channels to absent users, as text and HTML', async () => {
    const first = await post('plan', 'Shall **we** <begin>?');
    await post('plan', 'Yes.', people.cordelia);
    await post('other', 'Hello');
    await server.createChannel('brand new', [people.iago]);
    const sent = await emails();
    expect(sent.map(({ to }) => to)).not.toContain(people.iago.email);
    expect(sent.map(({ to }) => to)).not.toContain(people.cordelia.email);
    const email = sent.find(({ to }) => to === people.hamlet.email)!;
    expect(email).toMatchObject({ senderName: 'Realm zulip digest', subject: 'Weekly digest of Realm zulip' });
    const { text, html, unsubscribeUrl } = email;
    expect(text).toContain('#news > plan\nUnread messages: 2, senders: 2\n');
    expect(text).toContain(`/topic/plan/near/${first}\n\nIago:\n\nShall we <begin>?\n\nCordelia`);
    expect(text.indexOf('#news > plan')).toBeLessThan(text.indexOf('#news > other'));
    expect(text).toContain('#news > other\nUnread messages: 1, senders: 1\n');
    expect(text).toMatch(/New channels:\n#brand new\nhttp\S+\/#narrow\/channel\/\d+-brand-new\n/);
    expect(text).toContain(`Unsubscribe:\n${unsubscribeUrl}\n`);
    expect(html).toContain('Shall we &lt;begin&gt;?');
    expect(html).toMatch(/<h2 [^>]*><a href="[^"]*#narrow[^"]*"[^>]*><bdi>#/);
  });

  it('is sent once a week on the chosen weekday, even if the job is repeated', async () => {
    const days: number[] = [];
    for (let day = 0; day < 15; day++) {
      await post('daily', `day ${day}`);
      if ((await toHamlet({ days: 1 })).length > 0) days.push(day);
    }
    expect(days).toEqual([1, 8]);
  });

  it('omits messages that are read, muted, old, direct, sent by bots or no longer readable', async () => {
    await post('old', 'old words');
    server.clock.advance(7 * DAY);
    await server.createChannel('left', [people.hamlet, people.iago]);
    await server.createChannel('muted', [people.hamlet, people.iago]);
    const read = await post('read', 'read words');
    await post('silenced', 'silenced words');
    await post('x', 'left words', people.iago, 'left');
    await post('x', 'muted words', people.iago, 'muted');
    await post('', 'direct words', people.iago, [people.hamlet]);
    await post('bot', 'bot words', await server.addBot(people.iago, 'robot'));
    await post('plain', 'plain words');
    fieldsOf(await server.post('/messages/flags', people.hamlet, { messages: [read], op: 'add', flag: 'read' }));
    const idOf = async (stream: string) =>
      (fieldsOf(await server.get('/get_stream_id', people.hamlet, { stream })) as Wire).stream_id;
    const silenced = { stream_id: await idOf('news'), topic: 'silenced', visibility_policy: 1 };
    fieldsOf(await server.post('/user_topics', people.hamlet, silenced));
    const muted = [{ stream_id: await idOf('muted'), property: 'is_muted', value: true }];
    fieldsOf(await server.post('/users/me/subscriptions/properties', people.hamlet, { subscription_data: muted }));
    fieldsOf(await server.delete('/users/me/subscriptions', people.hamlet, { subscriptions: ['left'] }));
    const [{ text }] = (await toHamlet()) as [Wire];
    expect(text.match(/\w+ words/g)).toEqual(['plain words']);
  });

  it('is not sent without news', async () => {
    server.clock.advance(7 * DAY);
    expect(await emails()).toEqual([]);
  });

  it('shows guests only accessible channels and users', async () => {
    await server.createChannel('shared', [people.polonius, people.iago]);
    await server.createChannel('secret', [people.iago]);
    await server.limitGuests();
    fieldsOf(await server.patch('/settings', people.polonius, { default_language: 'fr' }));
    const stranger = await server.addUser({ email: 'stranger@zulip.com', fullName: 'Stranger' });
    await post('hello', 'to all', stranger, 'shared');
    const { text } = (await emails()).find(({ to }) => to === people.polonius.email)!;
    expect(text).toContain('Utilisateur inconnu:\n\nto all');
    expect(text).not.toMatch(/Stranger|secret|#news/);
  });

  it.each([
    ['message_content_in_email_notifications of the user', 'you have disabled'],
    ['message_content_allowed_in_email_notifications of the organization', 'your organization hides'],
  ])('contains no names or texts if %s is off', async (name, why) => {
    const setting = { [name.split(' ')[0]!]: false };
    await (name.includes('of the user') ? set(people.hamlet, setting) : setRealm(setting));
    await post('plan', 'Elsinore');
    await server.createChannel('brand new', [people.iago]);
    const [{ text, html }] = (await toHamlet()) as [Wire];
    expect(text).toContain('News of the last week in Realm zulip:\nBusy conversations: 1\nNew channels: 1\n');
    expect(text).toContain(why);
    expect(text + html).not.toMatch(/Elsinore|Iago|plan|brand|narrow/);
  });

  it('reflects changes between planning and sending', async () => {
    await post('plan', 'Elsinore');
    await server.parley.useCase(PlanDigests).execute();
    server.clock.advance(2 * DAY);
    await runJobs(server, server.parley.useCase(ScheduleDigests));
    fieldsOf(await server.post('/users/me/presence', people.hamlet, { status: 'active' }));
    await server.parley.useCase(PresenceBoard).save();
    await set(people.cordelia, { enable_digest_emails: false });
    await runJobs(server, server.parley.useCase(SendDigests));
    const recipients = server.mailer.emails.map(({ to }) => to);
    expect(recipients).toContain(people.iago.email);
    expect(recipients).not.toContain(people.hamlet.email);
    expect(recipients).not.toContain(people.cordelia.email);
  });

  it('is not sent to dummy addresses and is retried while the mail server is down', async () => {
    const dummy = await server.addUser({ email: 'd@users.invalid', fullName: 'Dummy' });
    server.clock.advance(7 * DAY);
    await server.createChannel('brand new', [people.hamlet, dummy]);
    await post('plan', 'Elsinore', people.iago, 'brand new');
    server.mailer.isDown = true;
    await expect(emails()).rejects.toThrow('The mail server is down');
    server.mailer.isDown = false;
    server.clock.advance(60);
    await runJobs(server, server.parley.useCase(SendDigests));
    const recipients = server.mailer.emails.map(({ to }) => to);
    expect(recipients.filter((to) => to === people.hamlet.email)).toHaveLength(1);
    expect(recipients).not.toContain(dummy.email);
  });

  it('is turned off by one click', async () => {
    await post('plan', 'Elsinore');
    const [{ unsubscribeUrl }] = (await toHamlet()) as [Wire];
    const path = `/${unsubscribeUrl.slice(server.url.length)}`;
    expect((await server.request('POST', path)).status).toBe(200);
    await post('plan', 'again');
    expect(await toHamlet({ days: 7 })).toEqual([]);
  });

  it('stops when the organization disables digests', async () => {
    await post('plan', 'Elsinore');
    await setRealm({ digest_emails_enabled: false });
    expect(await emails({ days: 8 })).toEqual([]);
  });
});
