import { JSON_TEXTS } from './api.js';

/** Encoded request. */
export interface Encoded {
  readonly path: string;
  readonly fields: readonly (readonly [name: string, value: string | Blob])[];
}

/** Inserts path parameters; the others become fields: strings and numbers unchanged, other values as JSON. */
export function encode(operation: string, path: string, params: Readonly<Record<string, unknown>>): Encoded {
  const left = new Map(Object.entries(params).filter(([, value]) => value !== undefined));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = left.get(name);
    if (value === undefined || value === '') throw new TypeError(`${operation} requires ${name}`);
    left.delete(name);
    return encodeURIComponent(String(value));
  });
  const jsonTexts = JSON_TEXTS[operation] ?? [];
  return {
    path: filled,
    fields: [...left].map(([name, value]) => [name, fieldOf(value, jsonTexts.includes(name))] as const),
  };
}

function fieldOf(value: unknown, holdsJson: boolean): string | Blob {
  if (value instanceof Blob) return value;
  return typeof value === 'string' && !holdsJson ? value : JSON.stringify(value);
}

/** Creates a form body; multipart if it contains files. */
export function formOf(fields: Encoded['fields']): FormData | URLSearchParams {
  if (fields.every(([, value]) => typeof value === 'string')) {
    return new URLSearchParams(fields as readonly (readonly [string, string])[] as [string, string][]);
  }
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, (value as { readonly name?: string }).name ?? 'file');
  }
  return form;
}
