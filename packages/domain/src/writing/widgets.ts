import { DomainError } from '../kernel/errors.js';
import { parseJson } from '../kernel/json.js';

// Validation of JSON that clients send as content. Errors use the clients' property names.

/** Describes the problem, such as `poll data["vote"] is not an integer`. */
export class JsonShapeError extends Error {}

export type Dictionary = Readonly<Record<string, unknown>>;

export function dictionary(value: unknown, where: string): Dictionary {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${where} is not a dict`);
  return value as Dictionary;
}

export function member(value: Dictionary, name: string, where: string): unknown {
  if (!Object.hasOwn(value, name)) throw wrong(`${name} key is missing from ${where}`);
  return value[name];
}

export function text(value: unknown, where: string): string {
  if (typeof value !== 'string') throw wrong(`${where} is not a string`);
  return value;
}

export function integer(value: unknown, where: string): number {
  if (!Number.isSafeInteger(value)) throw wrong(`${where} is not an integer`);
  return value as number;
}

export function flag(value: unknown, where: string): boolean {
  if (typeof value !== 'boolean') throw wrong(`${where} is not a boolean`);
  return value;
}

export const wrong = (problem: string): JsonShapeError => new JsonShapeError(problem);

/**
 * Interactive content rendered by clients in a message. The JSON format belongs to the clients and is stored and
 * returned unchanged. Its property names, and the errors that quote them, are content, like Markdown.
 */
export interface Widget {
  readonly type: 'poll' | 'todo' | 'zform';
  readonly data: unknown;
}

/** Returns the poll or task list requested by the first word (messages §15.3). */
export function widgetIn(content: string): Widget | null {
  const [, command, rest = ''] = /^\/(poll|todo)(?:\s+([\s\S]*))?$/.exec(content) ?? [];
  if (command === undefined) return null;
  const firstLineEnd = content.indexOf('\n');
  const firstLine = firstLineEnd === -1 ? content : content.slice(0, firstLineEnd);
  const title = firstLine.slice(command.length + 1).trim();
  const lines = firstLineEnd === -1 || rest === '' ? [] : itemsIn(content.slice(firstLineEnd + 1));
  return command === 'poll'
    ? { type: 'poll', data: { question: title, options: lines } }
    : { type: 'todo', data: { task_list_title: title, tasks: lines.map(toTask) } };
}

const itemsIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^[-*]\s*/, '')
        .trim(),
    )
    .filter((line) => line !== '');

function toTask(line: string): { task: string; desc: string } {
  const at = line.indexOf(': ');
  return at === -1 ? { task: line, desc: '' } : { task: line.slice(0, at).trim(), desc: line.slice(at + 2).trim() };
}

/** Parses a widget sent with a message. @throws DomainError INVALID_WIDGET with the texts of messages §15.3 */
export function parseWidget(json: string): Widget {
  let value: unknown;
  try {
    value = parseJson(json);
  } catch {
    throw new DomainError('INVALID_WIDGET', 'Widgets: API programmer sent invalid JSON content');
  }
  try {
    return widgetOf(value);
  } catch (error) {
    if (error instanceof JsonShapeError) throw new DomainError('INVALID_WIDGET', `Widgets: ${error.message}`);
    throw error;
  }
}

function widgetOf(value: unknown): Widget {
  const widget = dictionary(value, 'widget_content');
  for (const name of ['widget_type', 'extra_data']) {
    if (!Object.hasOwn(widget, name)) throw wrong(`${name} is not in widget_content`);
  }
  const data = dictionary(widget.extra_data, 'extra_data');
  const type = text(widget.widget_type, 'widget_type');
  if (type !== 'zform') throw wrong(`unknown widget type: ${type}`);
  if (!Object.hasOwn(data, 'type')) throw wrong('zform is missing type field');
  const form = text(data.type, 'extra_data["type"]');
  if (form !== 'choices') throw wrong(`unknown zform type: ${form}`);
  text(member(data, 'heading', 'extra_data'), 'extra_data["heading"]');
  const choices = member(data, 'choices', 'extra_data');
  if (!Array.isArray(choices)) throw wrong('extra_data["choices"] is not a list');
  for (const [index, choice] of choices.entries()) {
    const where = `extra_data["choices"][${index}]`;
    const fields = dictionary(choice, where);
    for (const name of ['short_name', 'long_name', 'reply']) text(member(fields, name, where), `${where}["${name}"]`);
  }
  return { type, data };
}

/** Serializes a widget in the format clients expect: ASCII JSON with spaces. */
export function widgetText({ type, data }: Widget): string {
  return asciiJson({ widget_type: type, extra_data: data });
}

function asciiJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asciiJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, one]) => `${asciiJson(name)}: ${asciiJson(one)}`);
    return `{${members.join(', ')}}`;
  }
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
