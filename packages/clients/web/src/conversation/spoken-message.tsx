import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type MessageRow as Message, type Widget, widgetOf } from '@parley/chat';
import { useEffect } from 'react';
import { spokenText } from '../content/spoken-text.js';
import { useServices } from '../services/context.js';

interface SpokenMessageProps {
  readonly message: Message;
  /** Text of the button shown instead of the content; null if the content is shown. */
  readonly hiddenText: string | null;
  onLabel(label: string): void;
}

/** Names the row of a message for screen readers. */
export default function SpokenMessage({ message, hiddenText, onLabel }: SpokenMessageProps) {
  const { i18n } = useLingui();
  const { baseUrl } = useServices();
  const time = i18n.date(new Date(message.timestamp * 1000), { timeStyle: 'short' });
  const parts = hiddenText === null ? partsOf(message, baseUrl, i18n) : [hiddenText];
  const label = [message.sender.name, time, ...parts].join(', ');
  useEffect(() => onLabel(label), [label, onLabel]);
  return null;
}

function partsOf(message: Message, baseUrl: string, i18n: I18n): readonly string[] {
  const { reactions, editedAt, movedAt } = message;
  return [
    contentOf(message, baseUrl, i18n),
    ...reactions.map(({ userIds, emojiName }) => `${userIds.length} :${emojiName}:`),
    ...(editedAt === null ? [] : [i18n._('edited')]),
    ...(editedAt === null && movedAt !== null ? [i18n._('moved')] : []),
  ].filter((part) => part !== '');
}

/** Content of a message for screen readers. */
export function contentOf({ submessages, html, markdown }: Message, baseUrl: string, i18n: I18n): string {
  const widget = submessages.length > 0 ? widgetOf(submessages) : null;
  if (widget) return widgetText(widget, i18n);
  return html === null ? markdown! : spokenText(html, baseUrl, i18n);
}

function widgetText(widget: Widget, i18n: I18n): string {
  if (widget.kind === 'todo') {
    const tasks = widget.tasks.map(({ text, isDone }) =>
      isDone ? i18n._('done: {task}', { task: text }) : i18n._('to do: {task}', { task: text }),
    );
    return [widget.title, ...tasks].join(', ');
  }
  const options = widget.options.map(({ text, voterIds }) =>
    i18n._('{count, plural, one {{option}: # vote} other {{option}: # votes}}', {
      option: text,
      count: voterIds.length,
    }),
  );
  return [`${i18n._('Poll')} ${widget.question}`.trim(), ...options].join(', ');
}
