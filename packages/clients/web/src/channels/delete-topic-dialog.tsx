import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { FormDialog } from '../kit/dialog.js';
import { useChat, useField } from '../services/context.js';

/** Asks for confirmation before deleting all messages of a topic. */
export function DeleteTopicDialog({ place }: { readonly place: Extract<Destination, { kind: 'channel' }> }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const emptyTopic = useField('realm_empty_topic_display_name') ?? '';
  const topic = place.topic === '' ? emptyTopic : place.topic;
  const channel = chat.sidebar.channel(place.channelId).peek()?.name ?? '';
  return (
    <FormDialog
      title={i18n._('Delete this topic?')}
      action={i18n._('Delete topic')}
      isDangerous
      onSubmit={() => chat.commands.deleteTopic(place)}
    >
      <p>
        {i18n._(
          'All messages of the topic “{topic}” in #{channel} that you can see disappear for everyone and cannot be restored.',
          { topic, channel },
        )}
      </p>
    </FormDialog>
  );
}
