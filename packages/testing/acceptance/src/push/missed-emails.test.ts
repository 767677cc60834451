import { type Email, ForgetBouncedAddress, RecipientRefused } from '@parley/domain/access';
import type { EventSeq, StoredEvent } from '@parley/domain/kernel';
import { FindDue, SendMissedEmails } from '@parley/domain/push';
import { mailOf } from '@parley/node-adapters';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let position = 0;
let topic = '';
let count = 0;
const { server, people } = serverPerSuite();
beforeAll(async () => {
  await server.createChannel('news', [people.hamlet, people.iago, people.cordelia]);
  // A followed topic would be a separate reason.
  await set(people.hamlet, { automatically_follow_topics_where_mentioned: false });
});
beforeEach(async () => {
  topic = `topic ${++count}`;
  await evaluate();
  await deliver(1_000_000);
  server.mailer.emails.length = 0;
});

/** Processes the log like the background worker. */
async function evaluate(): Promise<void> {
  const { isWanted, consume } = server.parley.useCase(FindDue);
  const { unitOfWork } = server.parley.ports;
  const { realmId } = server;
  const page = await unitOfWork.read(realmId, ({ events }) =>
    events.listAfter(realmId, position as EventSeq, 10_000, 10_000_000),
  );
  position = page.at(-1)?.seq ?? position;
  const events = (page as readonly StoredEvent[]).filter((event) => event.event && isWanted(event));
  if (events.length === 0) return;
  const unit = await consume(realmId, events);
  if (unit) await unitOfWork.write(realmId, unit);
}

async function deliver(seconds: number): Promise<void> {
  server.clock.advance(seconds);
  await runJobs(server, server.parley.useCase(SendMissedEmails));
}

/** Emails sent once the default delay has passed, by recipient. */
async function emails(seconds = 120): Promise<Wire[]> {
  await evaluate();
  await deliver(seconds);
  return server.mailer.emails.splice(0).sort((a, b) => (a.to < b.to ? -1 : 1));
}

const set = async (as: TestUser, settings: Readonly<Record<string, unknown>>) =>
  fieldsOf(await server.patch('/settings', as, settings));
const mention = (content = 'see this') =>
  server.sendMessage(people.iago, 'news', { topic, content: `@**King Hamlet** ${content}` });

describe('email about missed messages (users §6, organization §15)', () => {
  it('contains the direct messages of a conversation after the delay, as text and HTML', async () => {
    const first = await server.sendMessage(people.iago, [people.hamlet], { content: 'Are **you** there?' });
    await evaluate();
    await deliver(60);
    expect(server.mailer.emails).toEqual([]);
    await server.sendMessage(people.iago, [people.hamlet], { content: '<b>really</b> & truly' });
    const [email, ...others] = await emails(60);
    expect(others).toEqual([]);
    const pair = [people.iago.id, people.hamlet.id].sort((a, b) => a - b);
    const link = `${server.url}/#narrow/dm/${pair.join(',')}-pm/near/${first}`;
    expect(email).toMatchObject({
      to: people.hamlet.email,
      senderName: 'Realm zulip notifications',
      subject: 'DMs with Iago',
    });
    expect(email.text).toBe(
      `Iago:\n\nAre you there?\n\nIago:\n\n<b>really</b> & truly\n\nView or reply in Realm zulip:\n${link}\n\n-- \n` +
        'You are receiving this because you have email notifications enabled for direct messages.\n' +
        'Do not reply to this email.\n\n' +
        `Manage email preferences:\n${server.url}/#settings/notifications\nUnsubscribe:\n${email.unsubscribeUrl}\n`,
    );
    expect(email.html).toContain('&lt;b&gt;really&lt;/b&gt; &amp; truly');
    expect(email.html).toMatch(/<h2 [^>]*>Iago<\/h2>/);
    expect(email.html).toContain(`href="${link}"`);
  });

  it('has headers for threads and one-click unsubscription', async () => {
    await mention();
    const [first] = await emails();
    await mention('again');
    const [second] = await emails();
    await server.sendMessage(people.iago, 'news', { topic: 'elsewhere', content: '@**King Hamlet**' });
    const [other] = await emails();
    expect(first.threadId).toMatch(/^<[0-9a-f]{32}@[\w.]+>$/);
    expect(second.threadId).toBe(first.threadId);
    expect(other.threadId).not.toBe(first.threadId);
    expect(mailOf(first, { from: 'chat@example.com' })).toMatchObject({
      references: first.threadId,
      inReplyTo: first.threadId,
      headers: {
        'Auto-Submitted': 'auto-generated',
        'X-Auto-Response-Suppress': 'All',
        'List-Unsubscribe': `<${first.unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    });
  });

  it('is separate for each conversation and recipient', async () => {
    await mention();
    await server.sendMessage(people.iago, 'news', { topic, content: '@**all** look' });
    await server.sendMessage(people.iago, [people.hamlet, people.cordelia], { content: 'both of you' });
    const sent = await emails();
    const hamlet = people.hamlet.email;
    expect(sent.map(({ to, subject }) => [to, subject]).sort()).toEqual(
      [
        [people.cordelia.email, `#news > ${topic}`],
        [people.cordelia.email, 'Group DMs with Iago and King Hamlet'],
        [hamlet, `#news > ${topic}`],
        [hamlet, "Group DMs with Iago and Cordelia, Lear's daughter"],
      ].sort(),
    );
    const ofHamlet = sent.find(({ to, subject }) => to === hamlet && subject.startsWith('#'))!;
    expect(ofHamlet.text).toContain('see this');
    expect(ofHamlet.text).toContain('@all look');
  });

  it("is in the recipient's language, else the organization's", async () => {
    await set(people.hamlet, { default_language: 'he' });
    await set(people.cordelia, { default_language: 'sv' });
    fieldsOf(await server.patch('/realm', people.desdemona, { default_language: 'de' }));
    await mention();
    await server.sendMessage(people.iago, [people.hamlet, people.cordelia], { content: 'both of you' });
    const sent = await emails();
    for (const user of [people.hamlet, people.cordelia]) await set(user, { default_language: 'en' });
    fieldsOf(await server.patch('/realm', people.desdemona, { default_language: 'en' }));
    const [german, ...hebrew] = sent as [Wire, Wire, Wire];
    expect(german).toMatchObject({
      to: people.cordelia.email,
      senderName: 'Benachrichtigungen von Realm zulip',
      subject: 'Gruppennachrichten mit Iago und King Hamlet',
    });
    expect(german.text).toContain('weil E-Mail-Benachrichtigungen für Direktnachrichten eingeschaltet sind.\nAntworte');
    for (const { html, senderName } of hebrew) {
      expect(senderName).toBe('התראות מאת Realm zulip');
      expect(html).toContain('<html lang="he" dir="rtl">');
    }
  });

  it('omits messages that were read or deleted, or no longer mention the recipient', async () => {
    const [read, deleted, edited] = [await mention('read'), await mention('deleted'), await mention('edited')];
    await evaluate();
    fieldsOf(await server.post('/messages/flags', people.hamlet, { messages: [read], op: 'add', flag: 'read' }));
    fieldsOf(await server.delete(`/messages/${deleted}`, people.desdemona));
    fieldsOf(await server.patch(`/messages/${edited}`, people.iago, { content: 'nobody' }));
    expect(await emails()).toEqual([]);
  });

  it('contains the current text of an edited message', async () => {
    const id = await mention('before');
    await evaluate();
    fieldsOf(await server.patch(`/messages/${id}`, people.iago, { content: '@**King Hamlet** after' }));
    const [{ text }] = (await emails()) as [Wire];
    expect(text).toContain('after');
    expect(text).not.toContain('before');
  });

  it('is limited to a few messages and mentions omitted ones', async () => {
    for (let n = 0; n < 55; n++) await mention(`number ${n}.`);
    const [{ text }, ...others] = (await emails()) as [Wire];
    expect(others).toEqual([]);
    expect(text).toContain('number 49.');
    expect(text).not.toContain('number 50.');
    expect(text).toContain('There are more messages in this conversation.');
    expect(await emails(1000)).toEqual([]);
  });

  it('is not sent to dummy addresses, bots, senders and deactivated users', async () => {
    const dummy = await server.addUser({ email: `d${count}@users.invalid`, fullName: `Dummy ${count}` });
    const gone = await server.addUser({ email: `g${count}@zulip.com`, fullName: `Gone ${count}` });
    const bot = await server.addBot(people.iago, `b${count}`);
    await server.sendMessage(people.iago, [dummy, gone, bot], { content: 'hello' });
    await evaluate();
    fieldsOf(await server.delete(`/users/${gone.id}`, people.desdemona));
    expect(await emails()).toEqual([]);
  });

  it.each([
    ['de', 'Unbekannte Person'],
    ['en', 'Unknown user'],
  ])("names hidden senders in the guest's language: %s", async (default_language, name) => {
    fieldsOf(await server.patch('/settings', people.polonius, { default_language }));
    await server.createChannel(`open ${count}`, [people.polonius, people.iago]);
    await server.limitGuests();
    const stranger = await server.addUser({ email: `s${count}@zulip.com`, fullName: `Stranger ${count}` });
    await server.sendMessage(stranger, `open ${count}`, { topic, content: '@**Polonius** hello' });
    const [{ text, to }] = (await emails()) as [Wire];
    expect(to).toBe(people.polonius.email);
    expect(text.startsWith(`${name}:`)).toBe(true);
  });

  it('keeps its Message-ID across attempts, unless it has more messages', async () => {
    await mention();
    await evaluate();
    server.mailer.isSilent = true;
    await expect(deliver(120)).rejects.toThrow('silent');
    await expect(deliver(30)).rejects.toThrow('silent');
    await mention('something else');
    await evaluate();
    server.mailer.isSilent = false;
    const [first, second, third] = (await emails(60)).map(
      (email) => mailOf(email as Email, { from: 'a@b.de' }).messageId,
    );
    expect(first).toMatch(/^<[0-9a-f]{32}@b.de>$/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('is retried while the mail server is down, and dropped and counted after a day', async () => {
    await mention();
    await evaluate();
    server.mailer.isDown = true;
    await expect(deliver(120)).rejects.toThrow('The mail server is down');
    server.mailer.isDown = false;
    expect(await emails(30)).toHaveLength(1);

    await mention('lost');
    await evaluate();
    server.mailer.isDown = true;
    const expired = () => server.parley.ports.notificationMeter.counts.get('email')?.expired ?? 0;
    const before = expired();
    for (let attempt = 0; attempt < 14; attempt++) await expect(deliver(4 * 3600)).rejects.toThrow('down');
    expect(expired()).toBe(before + 1);
    server.mailer.isDown = false;
    expect(await emails(100_000)).toEqual([]);
  });
});

it('counts emails to a mailbox that the mail server refuses as refused, also those dropped afterwards', async () => {
  const counted = () => {
    const { sent = 0, refused = 0 } = server.parley.ports.notificationMeter.counts.get('email') ?? {};
    return { sent, refused };
  };
  const before = counted();
  const send = jest.spyOn(server.mailer, 'send').mockRejectedValueOnce(new RecipientRefused('550 5.1.1 gone'));
  await mention();
  await emails();
  await mention();
  await emails();
  expect(send).toHaveBeenCalledTimes(1);
  send.mockRestore();
  expect(counted()).toEqual({ ...before, refused: before.refused + 2 });
  await server.parley.useCase(ForgetBouncedAddress).execute(people.hamlet.email);
});

describe('setting for emails about missed messages (users §6)', () => {
  const hamlet = () => people.hamlet;

  it('enable_offline_email_notifications turns direct messages and mentions off', async () => {
    await set(hamlet(), { enable_offline_email_notifications: false });
    await mention();
    await server.sendMessage(people.iago, [hamlet()]);
    expect(await emails()).toEqual([]);
    await set(hamlet(), { enable_offline_email_notifications: true });
    await mention();
    await evaluate();
    await set(hamlet(), { enable_offline_email_notifications: false });
    expect(await emails()).toEqual([]);
    await set(hamlet(), { enable_offline_email_notifications: true });
  });

  it('enable_stream_email_notifications sends all messages of channels', async () => {
    await server.sendMessage(people.iago, 'news', { topic });
    expect(await emails()).toEqual([]);
    await set(hamlet(), { enable_stream_email_notifications: true });
    await server.sendMessage(people.iago, 'news', { topic });
    const [{ to, text }] = (await emails()) as [Wire];
    expect(to).toBe(hamlet().email);
    expect(text).toContain('because you have email notifications enabled for #news.');
    await server.sendMessage(people.iago, 'news', { topic });
    await evaluate();
    await set(hamlet(), { enable_stream_email_notifications: false });
    expect(await emails()).toEqual([]);
  });

  it('email_notifications of the channel precedes it, also if it changes before the email', async () => {
    const { stream_id } = fieldsOf(await server.get('/get_stream_id', hamlet(), { stream: 'news' })) as Wire;
    const setOfChannel = async (value: boolean) =>
      fieldsOf(
        await server.post('/users/me/subscriptions/properties', hamlet(), {
          subscription_data: [{ stream_id, property: 'email_notifications', value }],
        }),
      );
    await setOfChannel(true);
    await server.sendMessage(people.iago, 'news', { topic });
    expect(await emails()).toHaveLength(1);
    await server.sendMessage(people.iago, 'news', { topic });
    await evaluate();
    await setOfChannel(false);
    expect(await emails()).toEqual([]);
  });

  it('enable_followed_topic_email_notifications sends messages of followed topics', async () => {
    const { stream_id } = fieldsOf(await server.get('/get_stream_id', hamlet(), { stream: 'news' })) as Wire;
    fieldsOf(await server.post('/user_topics', hamlet(), { stream_id, topic, visibility_policy: 3 }));
    await server.sendMessage(people.iago, 'news', { topic });
    expect(await emails()).toHaveLength(1);
    await server.sendMessage(people.iago, 'news', { topic });
    await evaluate();
    await set(hamlet(), { enable_followed_topic_email_notifications: false });
    expect(await emails()).toEqual([]);
    await set(hamlet(), { enable_followed_topic_email_notifications: true });
  });

  it('wildcard_mentions_notify disables emails about wildcard mentions', async () => {
    await set(hamlet(), { wildcard_mentions_notify: false });
    await server.sendMessage(people.iago, 'news', { topic, content: '@**all**' });
    expect((await emails()).map(({ to }) => to)).toEqual([people.cordelia.email]);
    await set(hamlet(), { wildcard_mentions_notify: true });
  });

  it('email_notifications_batching_period_seconds changes the delay', async () => {
    await set(hamlet(), { email_notifications_batching_period_seconds: 300 });
    await mention();
    expect(await emails(299)).toEqual([]);
    expect(await emails(1)).toHaveLength(1);
    await set(hamlet(), { email_notifications_batching_period_seconds: 120 });
  });

  it.each([
    [
      'message_content_in_email_notifications of the user',
      '/settings',
      'message_content_in_email_notifications',
      'you have disabled',
    ],
    [
      'message_content_allowed_in_email_notifications of the organization',
      '/realm',
      'message_content_allowed_in_email_notifications',
      'your organization hides',
    ],
  ])('%s hides content, names and places', async (_, path, name, why) => {
    const as = path === '/realm' ? people.desdemona : hamlet();
    fieldsOf(await server.patch(path, as, { [name]: false }));
    await mention('secret');
    const [{ subject, text, html }] = (await emails()) as [Wire];
    fieldsOf(await server.patch(path, as, { [name]: true }));
    expect(subject).toBe('New messages');
    expect(text).toContain(`This email does not include message content because ${why}`);
    expect(text + html).not.toMatch(new RegExp(`secret|Iago|narrow|${topic}`));
  });

  it('realm_name_in_email_notifications_policy names the organization in the subject', async () => {
    const subjectWith = async (policy: number) => {
      await set(hamlet(), { realm_name_in_email_notifications_policy: policy });
      await mention();
      return ((await emails()) as [Wire])[0].subject;
    };
    expect(await subjectWith(2)).toBe(`[Realm zulip] #news > ${topic}`);
    expect(await subjectWith(3)).toBe(`#news > ${topic}`);
    expect(await subjectWith(1)).toBe(`#news > ${topic}`);
    const realmId = await server.addRealm('second');
    await server.addUser({ realmId, email: hamlet().email, fullName: 'Hamlet' });
    expect(await subjectWith(1)).toBe(`[Realm zulip] #news > ${topic}`);
  });
});

describe('unsubscribe link', () => {
  const settingsOf = async (as: TestUser): Promise<Wire> =>
    (fieldsOf(await server.post('/register', as, { fetch_event_types: ['user_settings'] })) as Wire).user_settings;
  const pathOf = ({ unsubscribeUrl }: Wire) => `/${unsubscribeUrl.slice(server.url.length)}`;

  it('disables the emails by one request without credentials, but not when it is opened', async () => {
    await server.sendMessage(people.hamlet, [people.cordelia]);
    const [email] = (await emails()) as [Wire];
    const path = pathOf(email);
    expect((await server.request('GET', path)).status).toBe(200);
    expect(await settingsOf(people.cordelia)).toMatchObject({ enable_offline_email_notifications: true });
    for (const _ of ['once', 'twice']) {
      const reply = await server.request('POST', path, {
        body: 'List-Unsubscribe=One-Click',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
      expect(reply.status).toBe(200);
    }
    expect(await settingsOf(people.cordelia)).toMatchObject({
      enable_offline_email_notifications: false,
      enable_stream_email_notifications: false,
      enable_followed_topic_email_notifications: false,
      enable_login_emails: true,
    });
    expect((await server.request('POST', path.replace('missed_messages', 'login'))).status).toBe(200);
    expect(await settingsOf(people.cordelia)).toMatchObject({ enable_login_emails: false });
  });

  it('rejects wrong keys, unknown kinds and keys of other organizations', async () => {
    await mention();
    const [email] = (await emails()) as [Wire];
    const path = pathOf(email);
    for (const wrong of [`${path.slice(0, -3)}a/`, path.replace('missed_messages', 'toString')]) {
      expect((await server.request('POST', wrong)).status).toBe(404);
    }
    await server.addRealm('third');
    expect((await server.request('POST', path, { realm: 'third' })).status).toBe(404);
    expect(await settingsOf(people.hamlet)).toMatchObject({ enable_offline_email_notifications: true });
  });
});
