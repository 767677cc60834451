import { useLingui } from '@lingui/react';
import { useEffect } from 'react';
import { useChat, useField } from '../services/context.js';

/** Shows topics without a name under a name in the page's language. The server sends the English one. */
export function useEmptyTopicName(): void {
  const { state } = useChat();
  const { i18n } = useLingui();
  const name = useField('realm_empty_topic_display_name');
  const translated = i18n._('general chat');
  useEffect(() => {
    if (name !== undefined) state.fields.set('realm_empty_topic_display_name', translated);
  }, [state, name, translated]);
}
