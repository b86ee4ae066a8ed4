/** A value that JSON can hold. Everything that crosses a thread or is persisted is of this type. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };
