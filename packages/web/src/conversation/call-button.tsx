import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { Video } from 'lucide-react';
import { IconButton } from '../kit/icon-button.js';
import { useField } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';

/** Provider ids (organization §20). */
const JITSI = 1;
const BIG_BLUE_BUTTON = 4;

interface Props {
  readonly destination: Destination;
  onInsert(text: string): void;
}

/** Button that adds a call to a message if the organization has a provider. */
export default function CallButton({ destination, onInsert }: Props) {
  const { i18n } = useLingui();
  const provider = useField('realm_video_chat_provider');
  const jitsi = useField('jitsi_server_url');
  const jitsiUrl = provider === JITSI && jitsi ? jitsi : null;
  if (provider !== BIG_BLUE_BUTTON && jitsiUrl === null) return null;
  return (
    <IconButton
      icon={Video}
      label={i18n._('Add a call')}
      opens="menu"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const { CallMenu } = await import('./call-menu.js');
          return <CallMenu jitsiUrl={jitsiUrl} destination={destination} onInsert={onInsert} />;
        })
      }
    />
  );
}
