/** Replaces the browser's storage by a simulated one with these values. Returns them. */
export function simulateStorage(values: Record<string, string> = {}): Record<string, string> {
  const methods = {
    getItem: (key: string) => values[key] ?? null,
    setItem: (key: string, value: string) => void Object.assign(values, { [key]: value }),
    removeItem: (key: string) => void delete values[key],
  };
  const storage = Object.defineProperties(
    values,
    Object.fromEntries(Object.entries(methods).map(([name, value]) => [name, { value, configurable: true }])),
  );
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });
  return values;
}

/**
 * Runs tasks in two windows of which neither has received the changes of the other one. The storage then contains the
 * changed items of both.
 */
export function atTheSameMoment(first: () => void, second: () => void): void {
  const before = { ...localStorage } as Readonly<Record<string, string>>;
  const merged = { ...before };
  for (const task of [first, second]) {
    const values = simulateStorage({ ...before });
    task();
    for (const key of Object.keys({ ...before, ...values })) {
      if (values[key] === undefined) delete merged[key];
      else if (values[key] !== before[key]) merged[key] = values[key];
    }
  }
  simulateStorage(merged);
}
