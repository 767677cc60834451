import { fieldsOf } from './expectations.js';
import { imageFile, postFiles } from './multipart.js';
import type { TestServer, TestUser } from './test-server.js';

/** Fills an organization with data of every kind. Returns a guest. */
export async function fill(server: TestServer): Promise<TestUser> {
  const { hamlet, cordelia, polonius, desdemona } = server.people;
  const post = async (path: string, as: TestUser, params: object) =>
    fieldsOf(await server.post(path, as, { ...params }));
  const moving = imageFile({ format: 'gif', frames: 3 });
  fieldsOf(await postFiles(server, '/realm/emoji/yorick', hamlet, [imageFile()]));
  fieldsOf(await server.delete('/realm/emoji/yorick', desdemona));
  fieldsOf(await postFiles(server, '/realm/emoji/yorick', hamlet, [moving]));
  fieldsOf(await postFiles(server, '/users/me/avatar', hamlet, [imageFile()]));
  fieldsOf(await postFiles(server, '/realm/icon', desdemona, [imageFile()]));
  for (const [width, night] of [
    [300, 'false'],
    [400, 'true'],
  ] as const) {
    fieldsOf(await postFiles(server, '/realm/logo', desdemona, [imageFile({ width, height: 50 })], { night }));
  }
  const helper = await server.addBot(hamlet, 'helper');
  await post('/realm/filters', desdemona, { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' });
  await post('/realm/domains', desdemona, { domain: 'example.com', allow_subdomains: true });
  await post('/user_groups/create', desdemona, { name: 'kings', description: 'of Denmark', members: [hamlet.id] });
  const folderId = (await post('/channel_folders/create', desdemona, { name: 'Castle', description: '*walls*' }))
    .channel_folder_id;
  const make = async (name: string, params: object) =>
    (await post('/channels/create', desdemona, { name, subscribers: [desdemona.id, hamlet.id], ...params })).id!;
  const town = await make('town', { description: '**all**', folder_id: folderId });
  const secret = await make('secret', { invite_only: true, history_public_to_subscribers: false });
  await make('archive', { message_retention_days: '"unlimited"' });
  await make('lobby', { message_retention_days: 30 });
  await post('/users/me/subscriptions', desdemona, { subscriptions: [{ name: 'secret' }], principals: [cordelia.id] });
  const send = async (as: TestUser, params: object) =>
    (await post('/messages', as, { type: 'channel', ...params })).id!;
  const first = await send(hamlet, { to: town, topic: 'news', content: 'see #12, @**Iago** and @**all**' });
  await send(desdemona, { to: secret, topic: 'plot', content: "hush @**Cordelia, Lear's daughter**" });
  const moved = await send(hamlet, { to: town, topic: 'other', content: '/poll yes\nno' });
  await send(helper, { to: town, topic: 'news', content: '/me beeps :yorick:' });
  await send(hamlet, { type: 'direct', to: [cordelia.id, polonius.id], content: 'three of us' });
  await send(hamlet, { type: 'direct', to: [hamlet.id], content: 'to be' });
  await post('/users/me/subscriptions', cordelia, { subscriptions: [{ name: 'town' }] });
  await send(hamlet, { to: town, topic: 'news', content: 'welcome' });
  fieldsOf(await server.delete('/users/me/subscriptions', cordelia, { subscriptions: ['town'] }));
  await send(hamlet, { to: town, topic: 'news', content: 'she left' });
  await post(`/messages/${first}/reactions`, cordelia, { emoji_name: 'smile' });
  await post(`/messages/${first}/reactions`, hamlet, { emoji_name: 'yorick' });
  await post('/messages/flags', cordelia, { messages: [first], op: 'add', flag: 'starred' });
  await post('/messages/flags', desdemona, { messages: [first], op: 'add', flag: 'read' });
  server.clock.advance(10);
  fieldsOf(await server.patch(`/messages/${first}`, hamlet, { content: 'edited #13' }));
  fieldsOf(await server.patch(`/messages/${moved}`, hamlet, { topic: 'about #14' }));
  const file = fieldsOf(await postFiles(server, '/user_uploads', hamlet, [{ name: 'skull.txt', content: 'alas' }]));
  await send(hamlet, { to: town, topic: 'files', content: `[skull](${file.url})` });
  await post('/drafts', hamlet, { drafts: [{ type: 'stream', to: [town], topic: 't', content: 'd', timestamp: 5 }] });
  await post('/saved_snippets', hamlet, { title: 'a', content: 'b' });
  await post('/users/me/status', hamlet, { status_text: 'brooding', emoji_name: 'smile' });
  await post('/users/me/alert_words', hamlet, { alert_words: ['ghost'] });
  await post(`/users/me/muted_users/${polonius.id}`, hamlet, {});
  await post('/user_topics', hamlet, { stream_id: town, topic: 'news', visibility_policy: 3 });
  await post('/navigation_views', hamlet, { fragment: 'narrow/is/starred', is_pinned: true });
  await post('/scheduled_messages', hamlet, {
    type: 'channel',
    to: town,
    topic: 'later',
    content: 'soon',
    scheduled_delivery_timestamp: server.clock.now() + 3600,
  });
  await post('/realm/profile_fields', desdemona, { name: 'Mood', hint: '', field_type: 1 });
  fieldsOf(await server.patch('/users/me/profile_data', hamlet, { data: [{ id: 1, value: 'dark' }] }));
  fieldsOf(await server.patch('/settings', hamlet, { twenty_four_hour_time: true, web_font_size_px: 18 }));
  fieldsOf(await server.patch('/realm', desdemona, { description: '*Elsinore*', inline_image_preview: false }));
  fieldsOf(await server.delete(`/users/${polonius.id}`, desdemona));
  const yorick = await server.addUser({ email: 'yorick@zulip.com', fullName: 'Yorick' });
  fieldsOf(await server.delete(`/users/${yorick.id}`, desdemona, { actions: { delete_profile: true } }));
  const ophelia = await server.addUser({ email: 'ophelia@zulip.com', fullName: 'Ophelia', role: 'guest' });
  await post('/users/me/subscriptions', desdemona, { subscriptions: [{ name: 'town' }], principals: [ophelia.id] });
  const picture = fieldsOf(await postFiles(server, '/user_uploads', ophelia, [imageFile({ width: 1000 })]));
  const shown = await send(ophelia, {
    to: town,
    topic: 'flowers',
    content: `[pansies](${picture.url}) `,
    read_by_sender: true,
  });
  await post('/reminders', ophelia, {
    message_id: shown,
    scheduled_delivery_timestamp: server.clock.now() + 7200,
    note: 'thoughts',
  });
  await post('/realm/playgrounds', desdemona, {
    name: 'play',
    pygments_language: 'Python',
    url_template: 'https://example.com/{code}',
  });
  fieldsOf(await server.request('PUT', '/bot_storage', { as: helper, params: { storage: { counted: '3' } } }));
  await post('/users/me/subscriptions/properties', ophelia, {
    subscription_data: [{ stream_id: town, property: 'color', value: '#ff0000' }],
  });
  return ophelia;
}
