import { recordOf } from '@parley/domain/kernel';
import type { MessageView, PersonalFlags, UserSummary } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import { MESSAGE_PARTS } from '../features.js';
import { variantByKey } from '../wire/request.js';
import {
  differsByViewer,
  flagNames,
  flagsText,
  type MessageForm,
  messageText,
  presentMessage,
} from './message.presenters.js';

const realm = { id: 2, stringId: 'zulip', url: 'https://chat.example', emailDomain: 'chat.example' };
const html: MessageForm = {
  editHistory: 'all',
  asHtml: true,
  withExternalIds: true,
  clientGravatar: true,
  allowEmptyTopicName: false,
  client: variantByKey('standard'),
  parts: MESSAGE_PARTS,
  seesSenderEmail: true,
};
const GRAVATAR = /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}\?d=identicon&version=1$/;
const DRAWN = /^https:\/\/chat\.example\/user_avatars\/2\/\d+\.png\?version=1$/;

const viewsOf = (fixture: MemoryFixture): Promise<readonly MessageView[]> =>
  fixture.uow.read(fixture.realm.id, ({ pages }) =>
    pages.listViews(
      fixture.realm.id,
      fixture.messages.map((message) => message.id),
    ),
  );

const withSender = (view: MessageView, sender: Partial<UserSummary>): MessageView => ({
  ...view,
  sender: { ...view.sender, ...sender },
});

describe('message presenter', () => {
  let channelMessage: MessageView;
  let directMessage: MessageView;
  let emptyTopic: MessageView;
  beforeAll(async () => {
    const fixture = await createFixture(
      aUser({ name: 'hamlet' }),
      aUser({ name: 'cordelia' }),
      aChannel({ name: 'general', subscribers: ['hamlet'] }),
      aMessage({ from: 'hamlet', to: 'general', topic: 'lunch', content: 'hi' }),
      aMessage({ from: 'hamlet', to: ['cordelia'] }),
      aMessage({ from: 'hamlet', to: 'general', topic: '' }),
    );
    [channelMessage, directMessage, emptyTopic] = (await viewsOf(fixture)) as [MessageView, MessageView, MessageView];
  });

  it('presents a channel message with exactly the fields of the contract', () => {
    expect(presentMessage(channelMessage, realm, html)).toEqual({
      id: channelMessage.message.id,
      sender_id: channelMessage.sender.id,
      sender_full_name: 'hamlet',
      sender_email: 'hamlet@example.com',
      sender_realm_str: 'zulip',
      avatar_url: null,
      client: 'website',
      content: '<p>hi</p>',
      content_type: 'text/html',
      type: 'stream',
      display_recipient: 'general',
      recipient_id: channelMessage.message.recipientId,
      stream_id: channelMessage.message.channelId,
      subject: 'lunch',
      topic_links: [],
      timestamp: channelMessage.message.sentAt,
      is_me_message: false,
      reactions: [],
      submessages: [],
    });
  });

  it('lists direct message participants by ascending id with four keys each', () => {
    const presented = presentMessage(directMessage, realm, html);
    const [hamlet, cordelia] =
      directMessage.conversation.kind === 'direct' ? directMessage.conversation.participants : [];
    expect(presented).toMatchObject({ type: 'private', subject: '' });
    expect(presented).not.toHaveProperty('stream_id');
    expect(presented.display_recipient).toEqual([
      { id: hamlet!.id, email: 'hamlet@example.com', full_name: 'hamlet', is_mirror_dummy: false },
      { id: cordelia!.id, email: 'cordelia@example.com', full_name: 'cordelia', is_mirror_dummy: false },
    ]);
  });

  it('presents raw Markdown on request', () => {
    expect(presentMessage(channelMessage, realm, { ...html, asHtml: false })).toMatchObject({
      content: 'hi',
      content_type: 'text/x-markdown',
    });
  });

  it('replaces the empty topic with a name for clients that cannot show it', () => {
    expect(presentMessage(emptyTopic, realm, html).subject).toBe('general chat');
    expect(presentMessage(emptyTopic, realm, { ...html, allowEmptyTopicName: true }).subject).toBe('');
    expect(presentMessage(directMessage, realm, html).subject).toBe('');
  });

  it.each`
    source         | visibility          | sees     | clientGravatar | expected    | differs
    ${'gravatar'}  | ${'everyone'}       | ${true}  | ${true}        | ${null}     | ${false}
    ${'gravatar'}  | ${'everyone'}       | ${true}  | ${false}       | ${GRAVATAR} | ${false}
    ${'gravatar'}  | ${'administrators'} | ${true}  | ${true}        | ${GRAVATAR} | ${true}
    ${'gravatar'}  | ${'administrators'} | ${true}  | ${false}       | ${GRAVATAR} | ${true}
    ${'gravatar'}  | ${'administrators'} | ${false} | ${true}        | ${DRAWN}    | ${true}
    ${'gravatar'}  | ${'administrators'} | ${false} | ${false}       | ${DRAWN}    | ${true}
    ${'generated'} | ${'everyone'}       | ${true}  | ${true}        | ${DRAWN}    | ${false}
    ${'uploaded'}  | ${'nobody'}         | ${false} | ${true}        | ${DRAWN}    | ${false}
  `(
    'presents a $source avatar (address visible to $visibility, seen: $sees, client_gravatar: $clientGravatar)',
    (row) => {
      const view = withSender(channelMessage, {
        emailVisibility: row.visibility,
        avatar: { source: row.source, version: 1, ...(row.source === 'uploaded' && { key: '7' }) },
      });
      const { clientGravatar, sees: seesSenderEmail } = row;
      const { avatar_url } = presentMessage(view, realm, { ...html, clientGravatar, seesSenderEmail });
      if (row.expected === null) expect(avatar_url).toBeNull();
      else expect(avatar_url).toMatch(row.expected);
      expect(differsByViewer(view.sender)).toBe(row.differs);
    },
  );

  it('replaces a restricted email address with a dummy', () => {
    const view = withSender(channelMessage, { emailVisibility: 'members' });
    expect(presentMessage(view, realm, html).sender_email).toBe(`user${view.sender.id}@chat.example`);
  });

  it('hides an inaccessible sender from a guest', () => {
    expect(presentMessage(channelMessage, realm, { ...html, hidesSender: true })).toMatchObject({
      sender_full_name: 'Unknown user',
      sender_email: `user${channelMessage.sender.id}@chat.example`,
      avatar_url: 'https://chat.example/user_avatars/2/unknown.png',
    });
  });

  it('includes the times of the last edit and move', () => {
    const message = { ...channelMessage.message, lastEditedAt: 5, lastMovedAt: 6 };
    expect(presentMessage({ ...channelMessage, message }, realm, html)).toMatchObject({
      last_edit_timestamp: 5,
      last_moved_timestamp: 6,
    });
  });

  it('presents topic links as text and URL only', () => {
    const link = { text: '#1', url: 'https://x.example/1', position: 0 };
    const view = { ...channelMessage, message: { ...channelMessage.message, topicLinks: [link] } };
    expect(presentMessage(view, realm, html).topic_links).toEqual([{ text: '#1', url: 'https://x.example/1' }]);
  });

  it('writes JSON text equal to the presented object', () => {
    expect(JSON.parse(messageText(channelMessage, realm, html))).toEqual(presentMessage(channelMessage, realm, html));
  });
});

describe('message flag presenter', () => {
  const none: PersonalFlags = {
    read: false,
    starred: false,
    collapsed: false,
    mentioned: false,
    channelWildcardMentioned: false,
    topicWildcardMentioned: false,
    hasAlertWord: false,
    historical: false,
  };
  const names = Object.keys(none) as (keyof PersonalFlags)[];

  it('lists message flags in contract order with the derived flag last', () => {
    const all: PersonalFlags = recordOf(names, () => true);
    expect(flagNames(all)).toEqual([
      'read',
      'starred',
      'collapsed',
      'mentioned',
      'stream_wildcard_mentioned',
      'topic_wildcard_mentioned',
      'has_alert_word',
      'historical',
      'wildcard_mentioned',
    ]);
    expect(flagNames(none)).toEqual([]);
    expect(flagNames({ ...none, topicWildcardMentioned: true })).toEqual([
      'topic_wildcard_mentioned',
      'wildcard_mentioned',
    ]);
  });

  it('writes every combination of flags as JSON text', () => {
    for (let bits = 0; bits < 2 ** names.length; bits++) {
      const these: PersonalFlags = recordOf(names, (name) => (bits & (1 << names.indexOf(name))) !== 0);
      expect(JSON.parse(flagsText(these))).toEqual(flagNames(these));
    }
  });
});
