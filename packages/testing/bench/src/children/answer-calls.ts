interface Call {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

/** Makes this process handle `Child.call` and `Child.usage`. It ends with its parent. */
// biome-ignore lint/suspicious/noExplicitAny: each handler knows what it is sent.
export function answerCalls(handlers: Readonly<Record<string, (argument: any) => unknown>>): void {
  process.on('message', (call: Call) => void answer(call));
  process.on('disconnect', () => process.exit());

  async function answer({ id, name, argument }: Call): Promise<void> {
    try {
      const handler = name === 'usage' ? cpuUsage : handlers[name];
      if (!handler) throw new Error(`There is no call ${name}`);
      process.send!({ id, value: await handler(argument) });
    } catch (error) {
      process.send!({ id, error: (error as Error).stack ?? String(error) });
    }
  }
}

function cpuUsage(): { readonly cpuMs: number } {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000 };
}
