import type { GroupSettings } from '../../access/group-setting.js';
import type {
  ChannelFolderId,
  ChannelId,
  CustomEmojiId,
  GroupId,
  ProfileFieldId,
  RealmId,
  RecipientId,
  UserId,
} from '../../kernel/ids.js';
import type { Reaction } from '../../messages/reaction.js';
import type { RealmSource } from '../realm-copy.js';
import { IdMap, MessageIds } from './id-map.js';
import { TextRewriter } from './rewrite-text.js';

/** What everything of an export is called here, as far as it has been made. */
export class ImportedIds {
  readonly users = new IdMap<UserId>('user', 'user');
  readonly groups = new IdMap<GroupId>('group', 'user group');
  readonly channels = new IdMap<ChannelId>('channel', 'channel');
  readonly folders = new IdMap<ChannelFolderId>('channelFolder', 'channel folder');
  readonly fields = new IdMap<ProfileFieldId>('profileField', 'profile field');
  readonly recipients = new IdMap<RecipientId>('recipient', 'recipient');
  readonly messages = new MessageIds();
  readonly emoji = new IdMap<CustomEmojiId>('customEmoji', 'custom emoji');
  readonly emojiFiles = new Map<string, string>();
  readonly rewriter: TextRewriter;

  constructor(
    readonly realmId: RealmId,
    source: RealmSource,
  ) {
    const { users, groups, channels, messages, emojiFiles } = this;
    const realm = { from: source.realm.realm.id, to: realmId };
    this.rewriter = new TextRewriter({ realm, users, groups, channels, messages, emojiFiles });
  }

  permissionsOf<R extends GroupSettings<object>>(permissions: R): R {
    const mapped = Object.entries(permissions).map(([name, id]) => [name, this.groups.get(id as GroupId)]);
    return Object.fromEntries(mapped) as R;
  }

  /** Codes of custom emoji are their ids. */
  emojiOf<E extends Pick<Reaction, 'type' | 'code'>>(emoji: E): E {
    const id = emoji.type === 'custom' ? this.emoji.find(Number(emoji.code) as CustomEmojiId) : undefined;
    return id === undefined ? emoji : { ...emoji, code: String(id) };
  }
}
