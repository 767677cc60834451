import type { ChannelId, MessageId, UserId } from '../kernel/ids.js';

/** Where clients show what is at a place, as the part of an address behind the organization's: `/#narrow/channel/7-general`. */
export const channelUrl = ({ id, name }: { readonly id: ChannelId; readonly name: string }): string =>
  `/#narrow/channel/${id}-${encodeName(name.replaceAll(' ', '-'))}`;

export const topicUrl = (channel: { readonly id: ChannelId; readonly name: string }, topic: string): string =>
  `${channelUrl(channel)}/topic/${encodeName(topic)}`;

/** Of a direct conversation, by the ids of everybody in it. */
export const conversationUrl = (userIds: readonly UserId[]): string => `/#narrow/dm/${userIds.join(',')}-pm`;

/** Of a message at such a place. */
export const messageUrl = (placeUrl: string, id: MessageId | string): string => `${placeUrl}/near/${id}`;

/** Percent encoding with dots for percent signs, as clients read it behind a `#`. */
function encodeName(name: string): string {
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('.', '%2E')
    .replaceAll('%', '.');
}
