import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { Management } from '@parley/chat';
import { Bell, BellOff, Link, LogIn, LogOut, MailCheck, Palette, Pin, PinOff, Settings } from '../icons/icons.js';
import { FormDialog } from '../kit/dialog.js';
import { Menu, MenuItem, MenuLine } from '../kit/menu.js';
import { useOverlay } from '../kit/overlay.js';
import { useComputed, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { copyLink } from '../services/location.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import { useReading } from '../services/use-reading.js';

/** The user's settings of a channel, and a command to mark it as read. */
export function ChannelMenu({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const { chat, baseUrl, navigation } = useServices();
  const management = useManagement();
  const rights = useComputed(() => management.rights.channel(channelId), [management, channelId]);
  const { anchor } = useOverlay();
  const channel = useReading(chat.sidebar.channel(channelId));
  if (!channel) return null;
  const narrow = [{ operator: 'channel', operand: channelId }] as const;
  const set = (property: 'is_muted' | 'pin_to_top', value: boolean) =>
    chat.commands.setChannelProperty(channelId, property, value).catch(reportFailure);
  return (
    <Menu label={i18n._('Channel actions')}>
      <MenuItem icon={MailCheck} onSelect={() => chat.commands.markNarrowRead(narrow).catch(reportFailure)}>
        {i18n._('Mark all messages as read')}
      </MenuItem>
      <MenuItem
        icon={Link}
        onSelect={() =>
          copyLink(baseUrl, chat.formatAddress({ view: 'narrow', narrow, near: null }), i18n._('Link copied'))
        }
      >
        {i18n._('Copy link to channel')}
      </MenuItem>
      {channel.isSubscribed && (
        <>
          <MenuLine />
          <MenuItem icon={channel.isPinned ? PinOff : Pin} onSelect={() => set('pin_to_top', !channel.isPinned)}>
            {channel.isPinned ? i18n._('Unpin channel') : i18n._('Pin channel to top')}
          </MenuItem>
          <MenuItem icon={channel.isMuted ? Bell : BellOff} onSelect={() => set('is_muted', !channel.isMuted)}>
            {channel.isMuted ? i18n._('Unmute channel') : i18n._('Mute channel')}
          </MenuItem>
          <MenuItem
            icon={Palette}
            onSelect={() =>
              openOverlay(anchor, async () => {
                const { ColorDialog } = await import('./color-dialog.js');
                return <ColorDialog channelId={channelId} />;
              })
            }
          >
            {i18n._('Change color')}
          </MenuItem>
        </>
      )}
      <MenuLine />
      <MenuItem
        icon={Settings}
        onSelect={() =>
          navigation.navigate(
            chat.formatAddress({ view: 'other', path: ['channels', String(channelId), channel.name, 'general'] }),
          )
        }
      >
        {i18n._('Channel settings')}
      </MenuItem>
      {rights.subscribe && (
        <MenuItem icon={LogIn} onSelect={() => management.subscribe(channelId).catch(reportFailure)}>
          {i18n._('Subscribe')}
        </MenuItem>
      )}
      {rights.unsubscribe && (
        <MenuItem icon={LogOut} onSelect={() => leaveChannel(i18n, anchor, management, channelId).catch(reportFailure)}>
          {i18n._('Unsubscribe')}
        </MenuItem>
      )}
    </Menu>
  );
}

/** Unsubscribes the user. Asks first if they could not rejoin on their own. */
export async function leaveChannel(
  i18n: I18n,
  anchor: HTMLElement,
  management: Management,
  channelId: number,
): Promise<void> {
  const channel = management.state.channels.peek(channelId)?.channel;
  const leave = () => management.unsubscribe(channelId);
  if (!channel?.invite_only) return leave();
  openOverlay(anchor, async () => (
    <FormDialog
      title={i18n._('Leave #{channel}?', { channel: channel.name })}
      action={i18n._('Unsubscribe')}
      isDangerous
      onSubmit={leave}
    >
      <p>{i18n._('The channel is private. You cannot return until someone adds you again.')}</p>
    </FormDialog>
  ));
}
