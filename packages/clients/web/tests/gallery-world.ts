import type { Server } from './stories.js';

/** Demo person who views the gallery: an owner with all permissions. */
const OWNER = 'desdemona';

const LONG_NAME =
  'Maximiliane Theodora Charlotte von und zu Donaudampfschifffahrtsgesellschaftskapitänswitwe-Hohenlohe';
const LONG_CHANNEL = 'preparations-for-the-annual-meeting-of-all-regional-offices';
const LONG_TOPIC = 'a topic whose name uses every one of the sixty characters...';

const EVERYTHING = `# Heading
Text with **bold**, *italics*, ~~struck out~~, \`code\`, a [link](https://example.com) and :tada:.

> A quotation with @**Desdemona** and @**King Hamlet**, #**Verona** and #**Verona>links**.

1. First
2. Second
   * Nested

| Name | Pieces | Price |
|:---|---:|---:|
| Apples | 3 | 1.20 |
| A rather long description of pears | 12 | 14.90 |

\`\`\`python
def greet(name: str) -> None:
    print(f"Hello {name}", 42)  # a comment in a line that is longer than most screens of phones are wide
\`\`\`

\`\`\`spoiler The end of the story
Everybody dies.
\`\`\`

\`\`\`math
\\int_0^1 x^2 \\, dx = \\frac{1}{3}
\`\`\`

Time: <time:2030-06-01T12:00:00+02:00>, formula $$a^2 + b^2$$

---
Last line`;

const CAPABILITIES = {
  notification_settings_null: true,
  bulk_message_deletion: true,
  user_avatar_url_field_optional: true,
  stream_typing_notifications: true,
  user_settings_object: true,
  linkifier_url_template: true,
  user_list_incomplete: true,
  include_deactivated_groups: true,
  archived_channels: true,
  empty_topic_name: true,
  simplified_presence_events: true,
  individual_emoji_changes: true,
  external_ids: true,
};

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Everything shown by the gallery, as sent by a server. */
export interface World {
  /** Response of `POST /register`. */
  readonly state: Readonly<Record<string, unknown>>;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** Responses of GET calls by path. */
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Response of `POST /register` for the owner, as requested by the client. */
export const registerOwner = (server: Server): Promise<World['state']> =>
  server.call(OWNER, 'POST', '/register', {
    apply_markdown: true,
    client_gravatar: false,
    client_capabilities: CAPABILITIES,
    idle_queue_timeout: 600,
    include_subscribers: 'partial',
    fetch_event_types: null,
  });

/**
 * Fills an organization with long and foreign names, all kinds of messages and an entry in every list. Returns the
 * resulting client data.
 */
export async function recordWorld(server: Server): Promise<World> {
  const call = (method: string, path: string, params?: Readonly<Record<string, unknown>>) =>
    server.call(OWNER, method, path, params);
  const { members } = await call('GET', '/users');
  const userId = (name: string): number =>
    members.find(({ full_name }: { full_name: string }) => full_name === name).user_id;
  const [hamlet, cordelia, iago] = [userId('King Hamlet'), userId("Cordelia, Lear's daughter"), userId('Iago')];
  const { user_id: long } = await call('POST', '/users', {
    email: 'long@example.com',
    password: 'correct horse battery staple',
    full_name: LONG_NAME,
  });
  const { user_id: hebrew } = await call('POST', '/users', {
    email: 'hebrew@example.com',
    password: 'correct horse battery staple',
    full_name: 'אבנר בן־שלום',
  });
  const { stream_id: verona } = await call('GET', '/get_stream_id', { stream: 'Verona' });
  await call('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'Verona' }, { name: LONG_CHANNEL, description: 'x'.repeat(200) }, { name: 'ערוץ' }],
    principals: [userId('Desdemona'), hamlet, cordelia, iago, long, hebrew],
    announce: false,
  });
  await call('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'closed circle', description: 'By invitation' }],
    invite_only: true,
    announce: false,
  });
  const post = async (person: string, topic: string, content: string, to = 'Verona'): Promise<number> =>
    (await server.call(person, 'POST', '/messages', { type: 'channel', to, topic, content, read_by_sender: true })).id;
  const whole = await post(OWNER, 'gallery', EVERYTHING);
  const short = await post('hamlet', 'gallery', 'Short, to @**Desdemona**');
  await call('PATCH', `/messages/${whole}`, { content: EVERYTHING.replace('Last line', 'Edited') });
  for (const emoji_name of ['tada', 'heart', 'eyes', 'octopus', 'smile', 'check']) {
    await server.call('hamlet', 'POST', `/messages/${short}/reactions`, { emoji_name });
    await server.call('cordelia', 'POST', `/messages/${short}/reactions`, { emoji_name });
  }
  await call('POST', `/messages/${short}/reactions`, { emoji_name: 'tada' });
  await call('POST', '/messages/flags', { messages: [short], op: 'add', flag: 'starred' });
  await post('hamlet', 'gallery', 'שלום, מה שלומך? English inside, ואז עוד');
  await post('cordelia', 'gallery', 'w'.repeat(600));
  await post('hamlet', 'gallery', '/me waves');
  await post(
    'hamlet',
    'gallery',
    '/poll Which day?\nMonday\nTuesday, but only in the afternoon after everybody has come back',
  );
  await post('hamlet', 'gallery', '/todo Shopping\nMilk: two bottles\nBread');
  const { url } = (await server.upload('hamlet', '/user_uploads', 'a picture.png', PIXEL)) as { url: string };
  const { url: file } = (await server.upload(
    OWNER,
    '/user_uploads',
    'report-of-the-year.txt',
    Buffer.from('Text'),
  )) as {
    url: string;
  };
  await post('hamlet', 'gallery', `[a picture.png](${url})`);
  await post(OWNER, 'gallery', `[report-of-the-year.txt](${file})`);
  await post('hamlet', LONG_TOPIC, 'In a topic with a long name');
  await post('hamlet', LONG_TOPIC, 'In two long names', LONG_CHANNEL);
  await post('hamlet', 'נושא', 'בערוץ', 'ערוץ');
  await post('hamlet', '✔ done', 'Resolved');
  for (const to of [[hamlet], [hamlet, cordelia, long, hebrew], [long], [hebrew]]) {
    await call('POST', '/messages', { type: 'direct', to, content: `To ${to.length}` });
  }
  await server.call('hamlet', 'POST', '/messages', { type: 'direct', to: [userId('Desdemona')], content: 'Unread' });
  // Personal lists.
  const in2030 = 1_900_000_000;
  for (const [at, content] of [
    [in2030, 'On time'],
    [in2030 + 86_400, `${'Long text. '.repeat(30)}End`],
  ] as const) {
    await call('POST', '/scheduled_messages', {
      type: 'channel',
      to: verona,
      topic: LONG_TOPIC,
      content,
      scheduled_delivery_timestamp: at,
    });
  }
  await call('POST', '/scheduled_messages', {
    type: 'direct',
    to: [hamlet, long],
    content: 'שלום',
    scheduled_delivery_timestamp: in2030,
  });
  await call('POST', '/reminders', { message_id: short, scheduled_delivery_timestamp: in2030, note: 'Ask again' });
  await call('POST', '/reminders', { message_id: whole, scheduled_delivery_timestamp: in2030 + 3600 });
  for (const [title, content] of [
    ['Greeting', 'Hello, and welcome!'],
    ['A title of a snippet that is as long as titles may be: sixty', 'Text over\nseveral lines\n'.repeat(8)],
    ['תבנית', 'שלום'],
  ] as const) {
    await call('POST', '/saved_snippets', { title: title.slice(0, 60), content });
  }
  await call('POST', '/navigation_views', { fragment: 'narrow/has/link', is_pinned: true, name: 'Links' });
  await call('POST', '/navigation_views', {
    fragment: 'narrow/is/alerted',
    is_pinned: false,
    name: LONG_NAME.slice(0, 60),
  });
  await call('POST', '/drafts', {
    drafts: [
      { type: 'stream', to: [verona], topic: LONG_TOPIC, content: 'Half a thought', timestamp: 1_790_000_000 },
      { type: 'private', to: [hamlet, long], topic: '', content: 'Dear both, '.repeat(20), timestamp: 1_790_000_100 },
    ],
  });
  await call('POST', '/users/me/alert_words', { alert_words: ['urgent', 'Donaudampfschifffahrtsgesellschaft'] });
  await call('POST', `/users/me/muted_users/${iago}`);
  for (const [topic, visibility_policy] of [
    ['gallery', 3],
    [LONG_TOPIC, 1],
    ['links', 2],
  ] as const) {
    await call('POST', '/user_topics', { stream_id: verona, topic, visibility_policy });
  }
  await call('POST', '/users/me/status', { status_text: 'On holiday', emoji_name: 'tada' });
  await server.call('hamlet', 'POST', '/users/me/status', { status_text: `In ${'meetings '.repeat(5)}`.slice(0, 60) });
  for (const person of ['hamlet', 'cordelia'])
    await server.call(person, 'POST', '/users/me/presence', { status: 'active' });
  await call('POST', '/bots', { full_name: 'Report bot', short_name: 'report', bot_type: 1 });
  // Lists of the organization.
  await call('POST', '/user_groups/create', {
    name: 'chorus',
    description: 'Everybody who sings',
    members: [hamlet, cordelia, long],
  });
  await call('POST', '/invites', {
    invitee_emails: 'somebody@example.com',
    stream_ids: [verona],
    invite_as: 400,
  });
  await call('POST', '/invites/multiuse', { stream_ids: [verona], invite_as: 600 });
  await call('POST', '/realm/filters', {
    pattern: '#(?P<id>[0-9]+)',
    url_template: 'https://tickets.example.com/{id}',
  });
  await call('POST', '/realm/playgrounds', {
    name: 'Python in the browser',
    pygments_language: 'Python',
    url_template: 'https://python.example.com/{code}',
  });
  for (const field_type of [1, 2, 4, 5, 6, 8]) {
    await call('POST', '/realm/profile_fields', { field_type, name: `Field ${field_type}`, hint: 'What people see' });
  }
  await call('POST', '/realm/profile_fields', {
    field_type: 3,
    name: 'Shift',
    field_data: { early: { text: 'Early', order: '1' }, late: { text: 'Late', order: '2' } },
  });
  await call('POST', '/realm/domains', { domain: 'example.com', allow_subdomains: true });
  await server.upload(OWNER, '/realm/emoji/gallery_face', 'face.png', PIXEL);
  const { channel_folder_id: folder } = await call('POST', '/channel_folders/create', {
    name: 'Offices',
    description: 'All regions',
  });
  await call('PATCH', `/streams/${verona}`, { folder_id: folder });
  await call('POST', '/default_stream_groups/create', {
    group_name: 'New people',
    description: 'To begin with',
    stream_names: ['Denmark'],
  });
  await call('POST', '/export/realm');

  const state = await registerOwner(server);
  const { messages } = await call('GET', '/messages', { anchor: 'newest', num_before: 60, num_after: 0 });
  const read = async (path: string) => [path, await call('GET', path)] as const;
  return {
    state,
    messages,
    responses: Object.fromEntries([
      ...(await Promise.all(
        [
          ...[
            '/attachments',
            '/invites',
            '/export/realm',
            '/realm/imports',
            '/audit',
            '/users/me',
            '/users/me/sessions',
            '/drafts',
          ],
          '/integrations',
          ...['/web_push/subscriptions', `/users/me/${verona}/topics`, `/streams/${verona}/members`],
          ...[`/streams/${verona}/email_address`, `/messages/${whole}/history`, `/messages/${short}/read_receipts`],
        ].map(read),
      )),
    ]),
  };
}
