import type { Submessage } from '@parley/client';

/** Poll or to-do list of a message (messages §15.3). */
export type Widget = Poll | TodoList;

export interface Poll {
  readonly kind: 'poll';
  readonly question: string;
  readonly options: readonly PollOption[];
}

export interface PollOption {
  readonly key: string;
  readonly text: string;
  readonly voterIds: readonly number[];
}

export interface TodoList {
  readonly kind: 'todo';
  readonly title: string;
  readonly tasks: readonly Task[];
}

export interface Task {
  readonly key: string;
  readonly text: string;
  readonly detail: string;
  readonly isDone: boolean;
}

/** User action on a widget, in the format of Zulip's clients. */
export type WidgetAction =
  | { readonly type: 'vote'; readonly key: string; readonly vote: 1 | -1 }
  | { readonly type: 'new_option'; readonly option: string; readonly idx: number }
  | { readonly type: 'question'; readonly question: string }
  | {
      readonly type: 'new_task';
      readonly key: number;
      readonly task: string;
      readonly desc: string;
      readonly completed: boolean;
    }
  | { readonly type: 'strike'; readonly key: string }
  | { readonly type: 'new_task_list_title'; readonly title: string };

/** Author key of the initial options and tasks. */
const CANNED = 'canned';

/** Returns the widget of a message; null if it has none or an unknown one. */
export function widgetOf([first, ...actions]: readonly Submessage[]): Widget | null {
  const begin = first && parsed<Beginning>(first.content);
  if (first?.msg_type !== 'widget' || !begin) return null;
  if (begin.widget_type === 'poll') return poll(begin.extra_data ?? {}, first.sender_id, actions);
  if (begin.widget_type === 'todo') return todoList(begin.extra_data ?? {}, first.sender_id, actions);
  return null;
}

interface Beginning {
  readonly widget_type?: string;
  readonly extra_data?: ExtraData | null;
}

interface ExtraData {
  readonly question?: string;
  readonly options?: readonly string[];
  readonly task_list_title?: string;
  readonly tasks?: readonly { readonly task: string; readonly desc: string }[];
}

function poll(extra: ExtraData, authorId: number, actions: readonly Submessage[]): Poll {
  let question = extra.question ?? '';
  const options = new Map<string, { text: string; voters: Set<number> }>();
  const add = (author: number | string, idx: number, text: string) => {
    const isKnown = [...options.values()].some((option) => option.text === text);
    if (!isKnown) options.set(`${author},${idx}`, { text, voters: new Set() });
  };
  for (const [idx, text] of (extra.options ?? []).entries()) add(CANNED, idx, text);
  for (const { sender_id: senderId, content } of actions) {
    const action = parsed<WidgetAction>(content);
    if (action?.type === 'new_option') add(senderId, action.idx, action.option);
    if (action?.type === 'question' && senderId === authorId) question = action.question;
    if (action?.type !== 'vote') continue;
    const voters = options.get(action.key)?.voters;
    if (action.vote === 1) voters?.add(senderId);
    else voters?.delete(senderId);
  }
  const rows = [...options].map(([key, { text, voters }]) => ({ key, text, voterIds: [...voters] }));
  return { kind: 'poll', question, options: rows };
}

function todoList(extra: ExtraData, authorId: number, actions: readonly Submessage[]): TodoList {
  let title = extra.task_list_title ?? '';
  const tasks = new Map<string, Task>();
  const add = (author: number | string, idx: number, text: string, detail: string, isDone: boolean) => {
    const key = `${idx},${author}`;
    if (![...tasks.values()].some((task) => task.text === text)) tasks.set(key, { key, text, detail, isDone });
  };
  for (const [idx, { task, desc }] of (extra.tasks ?? []).entries()) add(CANNED, idx, task, desc, false);
  for (const { sender_id: senderId, content } of actions) {
    const action = parsed<WidgetAction>(content);
    if (action?.type === 'new_task') add(senderId, action.key, action.task, action.desc, action.completed);
    if (action?.type === 'new_task_list_title' && senderId === authorId) title = action.title;
    const task = action?.type === 'strike' ? tasks.get(action.key) : undefined;
    if (task) tasks.set(task.key, { ...task, isDone: !task.isDone });
  }
  return { kind: 'todo', title, tasks: [...tasks.values()] };
}

/** Returns an unused index for a person's next option or task. */
export function nextIndex(submessages: readonly Submessage[], selfId: number): number {
  const own = submessages
    .filter(({ sender_id: id }) => id === selfId)
    .map(({ content }) => parsed<WidgetAction>(content));
  const used = own.map((action) =>
    action?.type === 'new_option' ? action.idx : action?.type === 'new_task' ? action.key : 0,
  );
  return Math.max(0, ...used) + 1;
}

function parsed<T>(content: string): T | null {
  try {
    const value: unknown = JSON.parse(content);
    return (typeof value === 'object' ? value : null) as T | null;
  } catch {
    return null;
  }
}
