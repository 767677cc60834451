import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { EllipsisVertical } from 'lucide-react';
import { IconButton } from '../kit/icon-button.js';
import { openOverlay } from '../services/overlay.js';

export function TopicMenuButton({ place }: { readonly place: Extract<Destination, { kind: 'channel' }> }) {
  const { i18n } = useLingui();
  return (
    <IconButton
      icon={EllipsisVertical}
      label={i18n._('Topic actions')}
      opens="menu"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const { TopicMenu } = await import('./topic-menu.js');
          return <TopicMenu place={place} />;
        })
      }
    />
  );
}

export function ChannelMenuButton({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  return (
    <IconButton
      icon={EllipsisVertical}
      label={i18n._('Channel actions')}
      opens="menu"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const { ChannelMenu } = await import('./channel-menu.js');
          return <ChannelMenu channelId={channelId} />;
        })
      }
    />
  );
}
