import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { Phone, Video } from '../icons/icons.js';
import { Menu, MenuItem } from '../kit/menu.js';
import { type Services, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';

interface Props {
  /** URL of the organization's Jitsi server; null for BigBlueButton. */
  readonly jitsiUrl: string | null;
  readonly destination: Destination;
  onInsert(text: string): void;
}

/** Call types; choosing one inserts a link to a new call. */
export function CallMenu({ jitsiUrl, destination, onInsert }: Props) {
  const { i18n } = useLingui();
  const services = useServices();
  const insert = (isVoiceOnly: boolean) =>
    createCall(services, i18n, jitsiUrl, destination, isVoiceOnly).then((url) => {
      const label = isVoiceOnly ? i18n._('Join voice call.') : i18n._('Join video call.');
      onInsert(`[${label}](${url})`);
    }, reportFailure);
  return (
    <Menu label={i18n._('Add a call')}>
      <MenuItem icon={Video} onSelect={() => insert(false)}>
        {i18n._('Video call')}
      </MenuItem>
      <MenuItem icon={Phone} onSelect={() => insert(true)}>
        {i18n._('Voice call')}
      </MenuItem>
    </Menu>
  );
}

/** Maximum length of a meeting name (organization §20). */
const MAX_NAME_LENGTH = 512;

/** Returns the URL of a new call (organization §20). */
async function createCall(
  { chat, client, baseUrl }: Services,
  i18n: I18n,
  jitsiUrl: string | null,
  destination: Destination,
  isVoiceOnly: boolean,
): Promise<string> {
  if (jitsiUrl !== null)
    return `${jitsiUrl.replace(/\/+$/, '')}/${randomName()}#config.startWithVideoMuted=${isVoiceOnly}`;
  const { url } = await client.get('/calls/bigbluebutton/create', {
    meeting_name: [...nameOf(chat, i18n, destination)].slice(0, MAX_NAME_LENGTH).join(''),
    voice_only: isVoiceOnly,
  });
  return new URL(url.replace(/^\//, ''), baseUrl).href;
}

function nameOf(chat: Services['chat'], i18n: I18n, destination: Destination): string {
  const place =
    destination.kind === 'channel'
      ? [chat.sidebar.channel(destination.channelId).peek()?.name, destination.topic].filter(Boolean).join(' > ')
      : [chat.state.selfId, ...destination.userIds].map((id) => chat.people.person(id).peek().name).join(', ');
  return i18n._('{place} meeting', { place });
}

/** Returns an unguessable name, since anyone who knows it can join. */
const randomName = (): string => crypto.getRandomValues(new BigUint64Array(2)).join('');
