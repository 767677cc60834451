import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '../../kernel/ids.js';
import type { KnownIds } from './id-map.js';

/** What texts name by ids. */
export interface NamedIds {
  readonly realm: { readonly from: RealmId; readonly to: RealmId };
  readonly users: KnownIds<UserId>;
  readonly groups: KnownIds<GroupId>;
  readonly channels: KnownIds<ChannelId>;
  readonly messages: KnownIds<MessageId>;
  /** Files of custom emoji, as addresses end: `7.gif`. Those that are absent are what they were. */
  readonly emojiFiles: ReadonlyMap<string, string>;
}

/** Names the same things by their ids here, in Markdown and in what was made of it. Ids that mean nothing stay. */
export class TextRewriter {
  constructor(private readonly ids: NamedIds) {}

  markdown(text: string): string {
    if (this.hasSameIds()) return text;
    const { users } = this.ids;
    const named = text.includes('|')
      ? text.replace(
          /(@_?\*\*[^*|\n]*\|)(\d{1,15})(?=\*\*)/g,
          (_, start: string, id: string) => start + mapped(users, id),
        )
      : text;
    return this.links(named);
  }

  html(text: string): string {
    if (this.hasSameIds()) return text;
    const { users, groups, channels } = this.ids;
    const named = text.includes('data-')
      ? text
          .replace(/(data-user-id=")(\d{1,15})(?=")/g, (_, start: string, id: string) => start + mapped(users, id))
          .replace(
            /(data-user-group-id=")(\d{1,15})(?=")/g,
            (_, start: string, id: string) => start + mapped(groups, id),
          )
          .replace(/(data-stream-id=")(\d{1,15})(?=")/g, (_, start: string, id: string) => start + mapped(channels, id))
      : text;
    return this.emojiPictures(this.links(named));
  }

  /** Of a file: its path begins with its organization. */
  pathId(pathId: string): string | null {
    const { from, to } = this.ids.realm;
    return pathId.startsWith(`${from}/`) ? `${to}/${pathId.slice(String(from).length + 1)}` : null;
  }

  private hasSameIds(): boolean {
    const { realm, users, groups, channels, messages, emojiFiles } = this.ids;
    return (
      realm.from === realm.to &&
      emojiFiles.size === 0 &&
      [users, groups, channels, messages].every(({ isIdentity }) => isIdentity)
    );
  }

  /** After links name the organization as it is here. */
  private emojiPictures(text: string): string {
    const { realm, emojiFiles } = this.ids;
    if (emojiFiles.size === 0 || !text.includes('/emoji/images/')) return text;
    return text.replace(
      /(\/user_avatars\/(\d{1,15})\/emoji\/images\/)([0-9a-zA-Z._-]{1,100})(?=")/g,
      (whole, start: string, realmId: string, file: string) =>
        realmId === String(realm.to) ? start + (emojiFiles.get(file) ?? file) : whole,
    );
  }

  private links(text: string): string {
    const { realm, channels, messages } = this.ids;
    let result = text;
    if (realm.from !== realm.to) {
      for (const folder of ['user_uploads', 'user_uploads/thumbnail', 'user_avatars', 'external_content']) {
        result = result.replaceAll(`/${folder}/${realm.from}/`, `/${folder}/${realm.to}/`);
      }
    }
    if (!result.includes('#narrow/')) return result;
    return result
      .replace(
        /(#narrow\/(?:channel|stream)\/)(\d{1,15})(?=[-/])/g,
        (_, start: string, id: string) => start + mapped(channels, id),
      )
      .replace(
        /(#narrow\/[^\s"'<>)]{1,500}?\/(?:near|with)\/)(\d{1,15})/g,
        (_, start: string, id: string) => start + mapped(messages, id),
      );
  }
}

function mapped<Id extends number>(map: KnownIds<Id>, id: string): string {
  return String(map.find(Number(id) as Id) ?? id);
}
