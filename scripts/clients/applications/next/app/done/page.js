import { cookies } from "next/headers";

export default async function Page() {
  return <p id="done">Saved for {(await cookies()).get("name")?.value}</p>;
}
