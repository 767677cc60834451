/** Declares the used subset, since TypeScript declares it only for browsers. */
declare namespace WebAssembly {
  type Imports = Record<string, Record<string, unknown>>;

  class Module {
    constructor(code: Uint8Array);
  }

  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Record<string, unknown>;
  }

  class Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  class RuntimeError extends Error {}
}
