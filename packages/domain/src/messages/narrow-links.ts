import type { Channel } from '../channels/channel.js';

type LinkedChannel = Pick<Channel, 'id' | 'name'>;

/** Where clients show a channel, from the root of the organization's address on (messages §17). */
export const channelUrl = ({ id, name }: LinkedChannel): string =>
  `/#narrow/channel/${id}-${encodeName(name.replaceAll(' ', '-'))}`;

export const topicUrl = (channel: LinkedChannel, topic: string): string =>
  `${channelUrl(channel)}/topic/${encodeName(topic)}`;

/** Percent encoding with dots for percent signs, as clients read it behind a `#`. */
function encodeName(name: string): string {
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('.', '%2E')
    .replaceAll('%', '.');
}
