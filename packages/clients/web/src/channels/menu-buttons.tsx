import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { EllipsisVertical } from '../icons/icons.js';
import { OverlayButton } from '../kit/icon-button.js';

export function TopicMenuButton({ place }: { readonly place: Extract<Destination, { kind: 'channel' }> }) {
  const { i18n } = useLingui();
  return (
    <OverlayButton
      icon={EllipsisVertical}
      label={i18n._('Topic actions')}
      opens="menu"
      load={() => import('./topic-menu.js').then(({ TopicMenu }) => <TopicMenu place={place} />)}
    />
  );
}

export function ChannelMenuButton({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  return (
    <OverlayButton
      icon={EllipsisVertical}
      label={i18n._('Channel actions')}
      opens="menu"
      load={() => import('./channel-menu.js').then(({ ChannelMenu }) => <ChannelMenu channelId={channelId} />)}
    />
  );
}
