import { cookies } from "next/headers";
import { redirect } from "next/navigation";

/** A server action: a function of the server that a form calls, and that sends the visitor on. */
async function save(form) {
  "use server";
  (await cookies()).set("name", form.get("name"));
  redirect("/done");
}

export default function Page() {
  return (
    <form action={save}>
      <input name="name" />
      <button type="submit">Save</button>
    </form>
  );
}
