import { useLingui } from '@lingui/react';
import { type Destination, narrowOf } from '@parley/chat';
import { ForwardDialog } from '../conversation/finder.js';
import { useServices } from '../services/context.js';
import { useUploads } from '../services/use-uploads.js';
import type { Shared } from './offline.js';

/** Puts a text and files from another application into the field of a conversation. */
export function ShareDialog({ text, files }: Shared) {
  const { i18n } = useLingui();
  const { chat, drafts, navigation } = useServices();
  const uploads = useUploads();
  const write = (to: Destination, content: string) => {
    drafts.begin(to, content);
    navigation.navigate(chat.formatAddress({ view: 'narrow', narrow: narrowOf(to), near: null }));
  };
  return (
    <ForwardDialog
      title={i18n._('Share in a conversation')}
      text={text}
      write={write}
      onPick={(place) => uploads.add(place, files)}
    />
  );
}
